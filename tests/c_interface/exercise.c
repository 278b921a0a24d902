/* Everything in stiction.h, from C: each check that fails is printed, and the program returns 1. What a test
 * in Rust compares is printed in hexadecimal. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stiction.h"

static int failures = 0;

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      failures++;                                                                              \
      fprintf(stderr, "line %d: %s\n  last error: %s\n", __LINE__, #condition, stiction_last_error()); \
    }                                                                                          \
  } while (0)

/* A call that must fail with a code and a message that holds a text. */
#define FAILS(call, code, text)                              \
  do {                                                       \
    CHECK((call) == (code));                                 \
    CHECK(strstr(stiction_last_error(), (text)) != NULL);    \
  } while (0)

static const char *const BALL =
    "simulation.time_step = 0.01\n"
    "[[body]]\n"
    "name = 'ball'\n"
    "mass = 2\n"
    "shape = { sphere = 0.1 }\n";

static const char *const PENDULUM =
    "<mujoco><worldbody><body name='rod'><joint name='hinge' type='hinge' axis='0 1 0'/>"
    "<inertial pos='0 0 -0.5' mass='1' diaginertia='0.1 0.1 0.1'/></body></worldbody>"
    "<actuator><motor name='motor' joint='hinge' gear='2'/></actuator></mujoco>";

enum { N = 12, X = 13 };

static double dot(const double *a, const double *b, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

static void print(const char *name, const double *numbers, size_t count) {
  printf("%s", name);
  for (size_t k = 0; k < count; k++) printf(" %a", numbers[k]);
  printf("\n");
}

static stiction_model *parsed(const char *text) {
  stiction_model *model = NULL;
  CHECK(stiction_model_parse(text, "text.toml", 0, &model) == STICTION_OK);
  return model;
}

static stiction_data *data_of(const stiction_model *model) {
  stiction_data *data = NULL;
  CHECK(stiction_data_new(model, &data) == STICTION_OK);
  return data;
}

/* A ball in flight: v+ = v + dt (g + f / m), q+ = q + dt v+. */
static void closed_form(void) {
  stiction_model *model = parsed(BALL);
  stiction_data *data = data_of(model);
  CHECK(stiction_nq(model) == 7 && stiction_nv(model) == 6 && stiction_time_step(model) == 0.01);
  CHECK(stiction_nu(data) == 6 && stiction_np(data) == 0);
  const char *const force[] = {"ball/fz"}, *const parameters[] = {"ball/mass", "gravity/z"};
  CHECK(stiction_select_inputs(data, force, 1) == 0 && stiction_nu(data) == 1);
  CHECK(strcmp(stiction_input_name(data, 0), "ball/fz") == 0 && !stiction_input_name(data, 1));
  CHECK(stiction_select_parameters(data, parameters, 2) == 0 && stiction_np(data) == 2);
  double x[X], u[1] = {10}, next[X], a[N * N], b[N], c[2 * N], p[2];
  CHECK(stiction_initial_state(model, NULL, x, X) == 0);
  CHECK(stiction_parameters(data, p, 2) == 0 && p[0] == 2 && p[1] == -9.81);
  x[9] = 1;
  stiction_report report;
  CHECK(stiction_step(data, x, X, u, 1, next, X, &report) == 0);
  double v = 1 + 0.01 * (-9.81 + 10 / 2.0);
  CHECK(fabs(next[9] - v) < 1e-15 && fabs(next[2] - (x[2] + 0.01 * v)) < 1e-15);
  CHECK(report.status == 0 && report.unsolved == 0 && isinf(report.margin) && report.implausible == 0);
  /* Nothing is faster than light; the step after it is judged anew. */
  double fast[X], slow = x[7];
  x[7] = 1e9;
  CHECK(stiction_step(data, x, X, u, 1, fast, X, &report) == 0 && report.implausible == 1);
  stiction_jacobian of_fast = {.x_next = {fast, X}};
  CHECK(stiction_linearize(data, STICTION_TANGENT, x, X, u, 1, &of_fast) == 0 && of_fast.report.implausible == 1);
  x[7] = slow;
  CHECK(stiction_step(data, x, X, u, 1, fast, X, &report) == 0 && report.implausible == 0);
  CHECK(memcmp(fast, next, sizeof fast) == 0);
  stiction_jacobian jacobian = {.x_next = {NULL, 0}, .a = {a, N * N}, .b = {b, N}, .c = {c, 2 * N}};
  CHECK(stiction_linearize(data, STICTION_TANGENT, x, X, u, 1, &jacobian) == 0);
  /* Column by column: dz+/dvz, dvz+/df, dvz+/dm, dvz+/dg. */
  CHECK(fabs(a[8 * N + 2] - 0.01) < 1e-15 && a[2 * N + 8] == 0);
  CHECK(fabs(b[8] - 0.01 / 2) < 1e-15 && fabs(b[2] - 1e-4 / 2) < 1e-15);
  CHECK(fabs(c[8] + 0.01 * 10 / 4) < 1e-15 && fabs(c[N + 8] - 0.01) < 1e-15);
  /* Other parameters, and what is wrong with some. */
  double heavy[2] = {4, -1.62};
  CHECK(stiction_set_parameters(data, heavy, 2) == 0);
  CHECK(stiction_step(data, x, X, u, 1, next, X, NULL) == 0);
  CHECK(fabs(next[9] - (1 + 0.01 * (-1.62 + 10 / 4.0))) < 1e-15);
  heavy[1] = NAN;
  FAILS(stiction_set_parameters(data, heavy, 2), STICTION_ERROR_INPUT, "gravity/z: must be finite");
  FAILS(stiction_set_parameters(data, heavy, 1), STICTION_ERROR_INPUT, "2 numbers here, found 1");
  heavy[0] = -2, heavy[1] = -1.62;
  FAILS(stiction_set_parameters(data, heavy, 2), STICTION_ERROR_INPUT, "ball/mass: must be from 0.000000001");
  const char *const twice[] = {"ball/mass", "ball/mass"}, *const shared[] = {"ball/inertia", "ball/inertia/xx"};
  FAILS(stiction_select_parameters(data, twice, 2), STICTION_ERROR_INPUT, "ball/mass: is named twice");
  FAILS(stiction_select_parameters(data, shared, 2), STICTION_ERROR_INPUT, "shares a number with ball/inertia");
  CHECK(stiction_np(data) == 2 && stiction_parameters(data, heavy, 2) == 0 && heavy[0] == 4);
  /* Data outlive their model; a step may be made in place. */
  stiction_model_free(model);
  stiction_set_parameters(data, p, 2);
  CHECK(stiction_step(data, x, X, u, 1, x, X, NULL) == 0 && fabs(x[9] - v) < 1e-15);
  stiction_data_free(data);
}

/* MJCF, one motor: nu = 1, the smallest Jacobians. */
static void one_input(void) {
  stiction_model *model = parsed(PENDULUM);
  stiction_data *data = data_of(model);
  CHECK(stiction_nq(model) == 1 && stiction_nv(model) == 1 && stiction_nu(data) == 1);
  CHECK(strcmp(stiction_input_name(data, 0), "motor/u") == 0);
  CHECK(stiction_name_count(model, STICTION_STATES) == 2);
  CHECK(strcmp(stiction_name(model, STICTION_STATES, 1), "rod/v") == 0 ||
        strcmp(stiction_name(model, STICTION_STATES, 1), "hinge/v") == 0);
  CHECK(stiction_name_count(model, STICTION_INPUTS) == 2 && !stiction_name(model, STICTION_INPUTS, 2));
  double x[2] = {0, 0}, u[1] = {0.3}, b[2];
  stiction_jacobian jacobian = {.b = {b, 2}};
  CHECK(stiction_linearize(data, STICTION_AMBIENT, x, 2, u, 1, &jacobian) == 0);
  /* dt gear / (I + m l^2), dt = 0.002 by default in MJCF. */
  CHECK(fabs(b[1] - 0.002 * 2 / (0.1 + 0.25)) < 1e-12 && fabs(b[0] - 0.002 * b[1]) < 1e-12);
  /* No inputs at all. */
  CHECK(stiction_select_inputs(data, NULL, 0) == 0 && stiction_nu(data) == 0);
  CHECK(stiction_initial_input(data, NULL, 0) == 0);
  CHECK(stiction_step(data, x, 2, NULL, 0, x, 2, NULL) == 0 && fabs(x[1]) < 1e-15);
  jacobian.b.size = 0;
  CHECK(stiction_linearize(data, STICTION_TANGENT, x, 2, NULL, 0, &jacobian) == 0);
  stiction_data_free(data);
  stiction_model_free(model);
}

/* A hull of eight vertices, which has as many as it may have. */
static const char *const MESH =
    "<mujoco><asset><mesh name='m' inertia='convex' vertex='-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1'/></asset>"
    "<worldbody><body name='rock'><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>";

static void hulls(void) {
  const uint32_t limits[] = {0, STICTION_MAX_HULL_VERTICES(0), STICTION_MAX_HULL_VERTICES(8),
                             STICTION_MAX_HULL_VERTICES(0xffffffffu), STICTION_MAX_HULL_VERTICES(5)};
  for (size_t k = 0; k < 5; k++) {
    stiction_model *model = NULL;
    CHECK(stiction_model_parse(MESH, "mesh.xml", limits[k], &model) == 0);
    size_t reduced = stiction_name_count(model, STICTION_WARNINGS);
    CHECK(reduced == (k == 4));
    CHECK(reduced == 0 || strstr(stiction_name(model, STICTION_WARNINGS, 0), "reduced to at most 5") != NULL);
    stiction_model_free(model);
  }
}

static void errors(const char *path) {
  stiction_model *model = NULL;
  stiction_data *data = NULL;
  FAILS(stiction_model_load("no/such.toml", 0, &model), STICTION_ERROR_IO, "no/such.toml");
  FAILS(stiction_model_load(NULL, 0, &model), STICTION_ERROR_POINTER, "path is a null pointer");
  FAILS(stiction_model_load(path, 0, NULL), STICTION_ERROR_POINTER, "model is a null pointer");
  FAILS(stiction_model_load(path, STICTION_FLOATING_BASE, &model), STICTION_ERROR_INPUT, "floating_base");
  FAILS(stiction_model_load(path, 0x80, &model), STICTION_ERROR_INPUT, "no flag 0x80");
  FAILS(stiction_model_load("\xff.toml", 0, &model), STICTION_ERROR_INPUT, "path is not UTF-8");
  const char *wrong = "simulation.time_step = 0.01\n[[body]]\nname = 'b'\nmass = -1\nshape = { sphere = 1 }\n";
  FAILS(stiction_model_parse(wrong, "wrong.toml", 0, &model), STICTION_ERROR_INPUT,
        "wrong.toml:4: body.b.mass: must be");
  FAILS(stiction_model_parse("<mujoco><worldbody>", "w.xml", 0, &model), STICTION_ERROR_INPUT, "w.xml:");
  FAILS(stiction_model_parse("", "empty.toml", 0, &model), STICTION_ERROR_INPUT, "empty.toml");
  FAILS(stiction_model_parse(BALL, "ball.toml", STICTION_FLOATING_BASE, &model), STICTION_ERROR_INPUT, "floating_base");
  FAILS(stiction_model_parse(BALL, "ball.toml", STICTION_MAX_HULL_VERTICES(9), &model), STICTION_ERROR_INPUT,
        "max_hull_vertices: only a URDF or MJCF");
  FAILS(stiction_model_parse(MESH, "mesh.xml", STICTION_MAX_HULL_VERTICES(3), &model), STICTION_ERROR_INPUT,
        "max_hull_vertices: must be 0, for all, or at least 4");
  CHECK(model == NULL);
  FAILS(stiction_data_new(NULL, &data), STICTION_ERROR_POINTER, "model is a null pointer");
  CHECK(data == NULL);
  CHECK(stiction_nq(NULL) == 0 && stiction_nv(NULL) == 0 && stiction_time_step(NULL) == 0);
  CHECK(stiction_nu(NULL) == 0 && stiction_np(NULL) == 0 && stiction_input_name(NULL, 0) == NULL);
  CHECK(stiction_name_count(NULL, 0) == 0 && stiction_name(NULL, 0, 0) == NULL);
  stiction_model_free(NULL);
  stiction_data_free(NULL);

  CHECK(stiction_model_load(path, 0, &model) == 0);
  data = data_of(model);
  CHECK(stiction_name_count(model, -1) == 0 && stiction_name(model, 7, 0) == NULL);
  FAILS(stiction_data_new(model, NULL), STICTION_ERROR_POINTER, "data is a null pointer");
  double x[X], u[6] = {0}, next[X], big[N * N] = {0};
  FAILS(stiction_initial_state(model, "home", x, X), STICTION_ERROR_INPUT, "no keyframe \"home\"");
  FAILS(stiction_initial_state(model, NULL, x, 12), STICTION_ERROR_INPUT, "13 numbers here, found room for 12");
  FAILS(stiction_initial_state(model, NULL, NULL, X), STICTION_ERROR_POINTER, "x is a null pointer");
  CHECK(stiction_initial_state(model, NULL, x, X) == 0);
  FAILS(stiction_step(NULL, x, X, u, 6, next, X, NULL), STICTION_ERROR_POINTER, "data is a null pointer");
  FAILS(stiction_step(data, NULL, X, u, 6, next, X, NULL), STICTION_ERROR_POINTER, "x is a null pointer");
  FAILS(stiction_step(data, x, X, NULL, 6, next, X, NULL), STICTION_ERROR_POINTER, "u is a null pointer");
  FAILS(stiction_step(data, x, X, u, 6, NULL, X, NULL), STICTION_ERROR_POINTER, "x_next is a null pointer");
  FAILS(stiction_step(data, x, 12, u, 6, next, X, NULL), STICTION_ERROR_INPUT, "13 numbers here, found 12");
  FAILS(stiction_step(data, x, X, u, 1, next, X, NULL), STICTION_ERROR_INPUT, "6 numbers here, found 1");
  FAILS(stiction_step(data, x, X, u, 6, next, 1, NULL), STICTION_ERROR_INPUT, "found room for 1");
  FAILS(stiction_step(data, x, (size_t)-1, u, 6, next, X, NULL), STICTION_ERROR_INPUT, "is no length");
  FAILS(stiction_step(data, (const double *)((const char *)x + 1), 12, u, 6, next, X, NULL),
        STICTION_ERROR_POINTER, "x is a misaligned pointer");
  x[3] = NAN;
  FAILS(stiction_step(data, x, X, u, 6, next, X, NULL), STICTION_ERROR_INPUT, "qw: must be finite, found NaN");
  memset(x + 3, 0, 4 * sizeof(double));
  FAILS(stiction_step(data, x, X, u, 6, next, X, NULL), STICTION_ERROR_INPUT, "is no orientation");
  CHECK(stiction_initial_state(model, NULL, x, X) == 0);
  u[2] = INFINITY;
  FAILS(stiction_step(data, x, X, u, 6, next, X, NULL), STICTION_ERROR_INPUT, "fz: must be finite, found inf");
  u[2] = 0;
  x[10] = 1e200;
  next[0] = 7;
  FAILS(stiction_step(data, x, X, u, 6, next, X, NULL), STICTION_ERROR_UNDEFINED, "not give finite numbers");
  CHECK(next[0] == 7);
  CHECK(stiction_initial_state(model, NULL, x, X) == 0);

  stiction_jacobian jacobian = {.a = {big, 143}};
  FAILS(stiction_linearize(data, 0, x, X, u, 6, &jacobian), STICTION_ERROR_INPUT, "A has 144 numbers here");
  FAILS(stiction_linearize(data, 2, x, X, u, 6, &jacobian), STICTION_ERROR_INPUT, "neither tangent nor ambient");
  FAILS(stiction_linearize(data, 0, x, X, u, 6, NULL), STICTION_ERROR_POINTER, "jacobian is a null");
  FAILS(stiction_vjp(data, x, X, u, 6, big, 11, big, 18), STICTION_ERROR_INPUT, "12 numbers here, found 11");
  FAILS(stiction_vjp(data, x, X, u, 6, big, 12, big, 17), STICTION_ERROR_INPUT, "has 18 numbers here");
  FAILS(stiction_jvp(data, x, X, u, 6, big, 17, big, 12), STICTION_ERROR_INPUT, "18 numbers here, found 17");
  big[11] = NAN;
  FAILS(stiction_vjp(data, x, X, u, 6, big, 12, big, 18), STICTION_ERROR_INPUT, "must be finite, found NaN");
  FAILS(stiction_integrate(data, x, X, big, 12, next, X), STICTION_ERROR_INPUT, "must be finite, found NaN");
  FAILS(stiction_integrate(data, x, X, big, 11, next, X), STICTION_ERROR_INPUT, "12 numbers here, found 11");
  const char *const unknown[] = {"box/fx", "box/fw"}, *const twice[] = {"box/fx", "box/fx"};
  const char *const null[] = {NULL};
  FAILS(stiction_select_inputs(data, unknown, 2), STICTION_ERROR_INPUT, "box/fw: is no input; there are box/fx");
  FAILS(stiction_select_inputs(data, twice, 2), STICTION_ERROR_INPUT, "named twice");
  FAILS(stiction_select_inputs(data, null, 1), STICTION_ERROR_POINTER, "a name is a null pointer");
  FAILS(stiction_select_inputs(data, NULL, 1), STICTION_ERROR_POINTER, "names is a null pointer");
  FAILS(stiction_select_parameters(data, unknown, 1), STICTION_ERROR_INPUT, "is no parameter");
  CHECK(stiction_nu(data) == 6);
  double kept[X];
  big[11] = 0;
  FAILS(stiction_hessian(data, x, X, u, 6, big, 12, NULL, 324), STICTION_ERROR_POINTER, "is a null pointer");
  FAILS(stiction_jvp(data, x, X, u, 6, NULL, 18, big, 12), STICTION_ERROR_POINTER, "direction is a null pointer");
  FAILS(stiction_vjp(data, x, X, u, 6, NULL, 12, big, 18), STICTION_ERROR_POINTER, "weights is a null pointer");
  FAILS(stiction_difference(data, x, X, NULL, X, big, 12), STICTION_ERROR_POINTER, "to is a null pointer");
  FAILS(stiction_difference(data, x, 12, x, X, big, 12), STICTION_ERROR_INPUT, "13 numbers here, found 12");
  FAILS(stiction_integrate(data, x, X, NULL, 12, next, X), STICTION_ERROR_POINTER, "dx is a null pointer");
  FAILS(stiction_integrate(NULL, x, X, big, 12, next, X), STICTION_ERROR_POINTER, "data is a null pointer");
  FAILS(stiction_parameters(data, NULL, 3), STICTION_ERROR_INPUT, "0 numbers here");
  FAILS(stiction_initial_input(data, NULL, 6), STICTION_ERROR_POINTER, "u is a null pointer");
  FAILS(stiction_set_warm(NULL, 1), STICTION_ERROR_POINTER, "data is a null pointer");
  /* The message stays until the next failure; what fails writes nothing. */
  CHECK(stiction_step(data, x, X, u, 6, kept, X, NULL) == 0);
  CHECK(strstr(stiction_last_error(), "data is a null pointer") != NULL);
  memcpy(next, kept, sizeof kept);
  CHECK(stiction_step(data, x, X, u, 5, next, X, NULL) != 0 && memcmp(next, kept, sizeof kept) == 0);
  /* After all that the data work. */
  CHECK(stiction_step(data, x, X, u, 6, next, X, NULL) == 0);
  stiction_data_free(data);
  stiction_model_free(model);
}

/* A sliding box, its numbers for the test in Rust, and what must hold between them. */
static void derivatives(const char *path) {
  enum { U = 2, P = 1, D = N + U + P };
  stiction_model *model = NULL;
  CHECK(stiction_model_load(path, 0, &model) == 0);
  stiction_data *data = data_of(model);
  const char *const inputs[] = {"box/fx", "box/tz"}, *const parameters[] = {"floor-box/mu"};
  CHECK(stiction_select_inputs(data, inputs, U) == 0);
  CHECK(stiction_select_parameters(data, parameters, P) == 0);
  double x[X], u[U] = {0.4, 0.01}, next[X], a[N * N], b[N * U], c[N * P], ambient[X * X], ambient_b[X * U];
  CHECK(stiction_initial_state(model, NULL, x, X) == 0);
  stiction_report report;
  for (int k = 0; k < 5; k++) CHECK(stiction_step(data, x, X, u, U, x, X, &report) == 0);
  CHECK(report.status == 0 && isfinite(report.margin) && report.residual < 1e-6);
  print("x", x, X);
  stiction_jacobian jacobian = {.x_next = {next, X}, .a = {a, N * N}, .b = {b, N * U}, .c = {c, N * P}};
  CHECK(stiction_linearize(data, STICTION_TANGENT, x, X, u, U, &jacobian) == 0);
  print("x_next", next, X);
  print("a", a, N * N);
  print("b", b, N * U);
  print("c", c, N * P);
  /* Sliding friction: dvx+/dmu = - dt g. */
  CHECK(fabs(c[6] + stiction_time_step(model) * 9.81) < 1e-3);
  stiction_jacobian numbers = {.a = {ambient, X * X}, .b = {ambient_b, X * U}};
  CHECK(stiction_linearize(data, STICTION_AMBIENT, x, X, u, U, &numbers) == 0);
  print("ambient_a", ambient, X * X);
  print("ambient_b", ambient_b, X * U);

  double direction[D], weights[N], forward[N], adjoint[D], hessian[D * D];
  for (int k = 0; k < D; k++) direction[k] = sin(1 + k);
  for (int k = 0; k < N; k++) weights[k] = cos(1 + k);
  CHECK(stiction_jvp(data, x, X, u, U, direction, D, forward, N) == 0);
  CHECK(stiction_vjp(data, x, X, u, U, weights, N, adjoint, D) == 0);
  CHECK(stiction_hessian(data, x, X, u, U, weights, N, hessian, D * D) == 0);
  double there = dot(weights, forward, N), back = dot(adjoint, direction, D);
  CHECK(fabs(there - back) < 1e-9 * (1 + fabs(there)));
  for (int k = 0; k < N; k++) {
    double product = 0;
    for (int j = 0; j < D; j++) {
      const double *matrix = j < N ? a + j * N : j < N + U ? b + (j - N) * N : c + (j - N - U) * N;
      product += matrix[k] * direction[j];
    }
    CHECK(fabs(product - forward[k]) < 1e-9 * (1 + fabs(product)));
  }
  for (int i = 0; i < D; i++)
    for (int j = 0; j < D; j++) CHECK(fabs(hessian[i * D + j] - hessian[j * D + i]) < 1e-6);
  double moved[X], dx[N];
  CHECK(stiction_integrate(data, x, X, weights, N, moved, X) == 0);
  CHECK(stiction_difference(data, x, X, moved, X, dx, N) == 0);
  for (int k = 0; k < N; k++) CHECK(fabs(dx[k] - weights[k]) < 1e-12);
  /* Warm starts agree up to the tolerance. */
  CHECK(stiction_set_warm(data, 1) == 0);
  double warm[X];
  for (int k = 0; k < 2; k++) CHECK(stiction_step(data, x, X, u, U, warm, X, NULL) == 0);
  for (int k = 0; k < X; k++) CHECK(fabs(warm[k] - next[k]) < 1e-8);
  stiction_data_free(data);
  stiction_model_free(model);
}

typedef struct job {
  const stiction_model *model;
  stiction_data *shared;
  const double *expected;
  double end[X];
  int busy, other, wrong;
} job;

enum { STEPS = 40, MOST = 1000000 };

/* Whether any thread found the data busy. */
static int seen = 0;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static int busy_seen(int now) {
  pthread_mutex_lock(&seen_lock);
  seen |= now;
  int result = seen;
  pthread_mutex_unlock(&seen_lock);
  return result;
}

static void *own_data(void *argument) {
  job *job = argument;
  stiction_data *data = data_of(job->model);
  double u[6] = {0};
  CHECK(strcmp(stiction_last_error(), "") == 0); /* that of this thread */
  CHECK(stiction_initial_state(job->model, NULL, job->end, X) == 0);
  for (int k = 0; k < STEPS; k++) CHECK(stiction_step(data, job->end, X, u, 6, job->end, X, NULL) == 0);
  stiction_data_free(data);
  return NULL;
}

static void *shared_data(void *argument) {
  job *job = argument;
  double u[6] = {0}, x[X];
  CHECK(stiction_initial_state(job->model, NULL, x, X) == 0);
  /* On until one call met another. */
  for (int k = 0; k < MOST && (k < STEPS || !busy_seen(job->busy)); k++) {
    int code = stiction_step(job->shared, x, X, u, 6, job->end, X, NULL);
    if (code == STICTION_ERROR_BUSY) job->busy++;
    else if (code != 0) job->other++;
    else if (memcmp(job->end, job->expected, sizeof job->end) != 0) job->wrong++;
  }
  return NULL;
}

static void threads(const char *path) {
  stiction_model *model = NULL;
  CHECK(stiction_model_load(path, 0, &model) == 0);
  CHECK(stiction_nu(NULL) == 0 && strcmp(stiction_last_error(), "") != 0);
  job jobs[2] = {{.model = model}, {.model = model}}, alone = {.model = model};
  pthread_t ids[2];
  for (int k = 0; k < 2; k++) CHECK(pthread_create(&ids[k], NULL, own_data, &jobs[k]) == 0);
  for (int k = 0; k < 2; k++) pthread_join(ids[k], NULL);
  pthread_create(&ids[0], NULL, own_data, &alone);
  pthread_join(ids[0], NULL);
  for (int k = 0; k < 2; k++) CHECK(memcmp(jobs[k].end, alone.end, sizeof alone.end) == 0);
  /* One data for two threads: BUSY, or the right numbers. */
  stiction_data *data = data_of(model);
  double x[X], u[6] = {0}, next[X];
  CHECK(stiction_initial_state(model, NULL, x, X) == 0 && stiction_step(data, x, X, u, 6, next, X, NULL) == 0);
  for (int k = 0; k < 2; k++) {
    jobs[k].shared = data, jobs[k].expected = next;
    pthread_create(&ids[k], NULL, shared_data, &jobs[k]);
  }
  for (int k = 0; k < 2; k++) pthread_join(ids[k], NULL);
  CHECK(jobs[0].other == 0 && jobs[1].other == 0);
  CHECK(jobs[0].wrong == 0 && jobs[1].wrong == 0);
  CHECK(jobs[0].busy + jobs[1].busy > 0);
  stiction_data_free(data);
  stiction_model_free(model);
}

static const char *const BLOCK =
    "gravity = [0, 0, 0]\n"
    "simulation.time_step = 0.01\n"
    "[[body]]\n"
    "name = 'box'\n"
    "mass = 2\n"
    "shape = { sphere = 0.1 }\n"
    "position = [5, 0, 0]\n"
    "[[soft]]\n"
    "name = 'block'\n"
    "shape = { box = [0.05, 0.05, 0.05] }\n"
    "resolution = 0.1\n"
    "density = 500\n"
    "youngs_modulus = 1e5\n"
    "poisson_ratio = 0.3\n"
    "markers = { top = [0.05, 0.05, 0.05] }\n"
    "[[contact]]\n"
    "mu = 0.5\n";

/* A soft block flies, and a force pushes a rigid ball beside it: all is known in closed form. */
static void soft_bodies(const char *path) {
  enum { STEPS = 4, RIGID = 13, TANGENT = 12 };
  const char *const p_names[] = {"block/velocity_x", "block/youngs_modulus"}, *const u_names[] = {"box/fx"};
  const stiction_selection selection = {p_names, 2, u_names, 1};
  stiction_soft *soft = NULL;
  CHECK(stiction_soft_parse(BLOCK, "block.toml", &selection, &soft) == STICTION_OK);
  const size_t n = 3 * stiction_soft_nodes(soft), rows = (STEPS + 1) * n;
  CHECK(n >= 24 && stiction_soft_nv(soft) == 6 && stiction_soft_time_step(soft) == 0.01);
  CHECK(strcmp(stiction_soft_name(soft, STICTION_STATES, 0), "box/px") == 0);
  CHECK(stiction_soft_name_count(soft, STICTION_STATES) == RIGID);
  CHECK(stiction_soft_name_count(soft, STICTION_WARNINGS) == 0);
  CHECK(stiction_soft_name(soft, STICTION_INPUTS, 1000) == NULL && stiction_soft_name(soft, -1, 0) == NULL);
  size_t top = n;
  CHECK(stiction_soft_marker(soft, "block/top", &top) == STICTION_OK && top < n / 3);
  double p[2];
  CHECK(stiction_soft_parameters(soft, p, 2) == STICTION_OK && p[0] == 0 && p[1] == 1e5);

  double *x = malloc(rows * sizeof *x), *v = malloc(rows * sizeof *v), rigid[(STEPS + 1) * RIGID];
  double *w = calloc(rows, sizeof *w), *c = malloc(2 * n * sizeof *c);
  const double given[] = {2, 1e5}, u[STEPS] = {1, 2, 3, 4};
  const stiction_numbers numbers = {given, 2, u, STEPS};
  stiction_course course = {{x, rows}, {v, rows}, {rigid, sizeof rigid / sizeof *rigid}};
  size_t unsolved = 7;
  CHECK(stiction_soft_rollout(soft, STEPS, &numbers, &course, &unsolved) == STICTION_OK);
  CHECK(unsolved == 0);
  const double *end = x + STEPS * n + 3 * top;
  CHECK(fabs(end[0] - (0.05 + 2 * STEPS * 0.01)) < 1e-12 && fabs(end[2] - 0.05) < 1e-12);
  CHECK(fabs(v[STEPS * n + 3 * top] - 2) < 1e-11);
  CHECK(fabs(rigid[STEPS * RIGID + 7] - 0.01 * (1 + 2 + 3 + 4) / 2) < 1e-14);

  /* Of what is not given the scene's: all rests. What is not wanted is not written. */
  course.v = course.rigid = (stiction_buffer){NULL, 0};
  v[0] = -1;
  CHECK(stiction_soft_rollout(soft, STEPS, NULL, &course, NULL) == STICTION_OK);
  CHECK(fabs(x[STEPS * n + 3 * top] - 0.05) < 1e-14 && v[0] == -1);

  CHECK(stiction_soft_jacobian(soft, STEPS, &numbers, (stiction_buffer){x, n}, (stiction_buffer){c, 2 * n}) ==
        STICTION_OK);
  CHECK(fabs(c[3 * top] - STEPS * 0.01) < 1e-12 && fabs(c[3 * top + 1]) < 1e-12);
  CHECK(fabs(c[n + 3 * top]) < 1e-15);

  /* The end of the marker, a velocity of it, and the last velocity of the ball. */
  double rigid_w[(STEPS + 1) * TANGENT] = {0}, p_bar[2], u_bar[STEPS], *v_w = calloc(rows, sizeof *v_w);
  w[STEPS * n + 3 * top] = 3;
  v_w[STEPS * n + 3 * top] = 10;
  rigid_w[STEPS * TANGENT + 6] = 5;
  const stiction_course weights = {{w, rows}, {v_w, rows}, {rigid_w, sizeof rigid_w / sizeof *rigid_w}};
  CHECK(stiction_soft_vjp(soft, STEPS, &numbers, &weights, (stiction_buffer){p_bar, 2},
                          (stiction_buffer){u_bar, STEPS}) == STICTION_OK);
  CHECK(fabs(p_bar[0] - (3 * STEPS * 0.01 + 10)) < 1e-10 && fabs(p_bar[1]) < 1e-12);
  for (int k = 0; k < STEPS; k++) CHECK(fabs(u_bar[k] - 5 * 0.01 / 2) < 1e-13);

  /* Nothing is written where something is wrong. */
  x[0] = -1;
  course.x.size = rows - 1;
  FAILS(stiction_soft_rollout(soft, STEPS, NULL, &course, NULL), STICTION_ERROR_INPUT, "x has");
  CHECK(x[0] == -1);
  const stiction_numbers few = {given, 1, NULL, 0}, bad = {NULL, 0, u, STEPS - 1};
  course.x.size = rows;
  FAILS(stiction_soft_rollout(soft, STEPS, &few, &course, NULL), STICTION_ERROR_INPUT, "p: must be 2 numbers");
  FAILS(stiction_soft_rollout(soft, STEPS, &bad, &course, NULL), STICTION_ERROR_INPUT, "U: must be 4 times 1");
  const double negative[] = {0, -1};
  const stiction_numbers wrong = {negative, 2, NULL, 0};
  FAILS(stiction_soft_rollout(soft, STEPS, &wrong, &course, NULL), STICTION_ERROR_INPUT, "youngs_modulus");
  FAILS(stiction_soft_rollout(soft, STEPS, NULL, NULL, NULL), STICTION_ERROR_POINTER, "course");
  FAILS(stiction_soft_rollout(NULL, STEPS, NULL, &course, NULL), STICTION_ERROR_POINTER, "soft");
  FAILS(stiction_soft_marker(soft, "block/tip", &top), STICTION_ERROR_INPUT, "block/top");
  const stiction_course misfit = {{w, n}, {NULL, 0}, {NULL, 0}};
  FAILS(stiction_soft_vjp(soft, STEPS, NULL, &misfit, (stiction_buffer){p_bar, 2}, (stiction_buffer){NULL, 0}),
        STICTION_ERROR_INPUT, "weights.x: must be 5 times");
  p_bar[0] = u_bar[0] = c[0] = -1;
  FAILS(stiction_soft_vjp(soft, STEPS, &numbers, &weights, (stiction_buffer){p_bar, 2}, (stiction_buffer){u_bar, 1}),
        STICTION_ERROR_INPUT, "u_bar has 4");
  FAILS(stiction_soft_vjp(soft, STEPS, NULL, &weights, (stiction_buffer){p_bar, 1}, (stiction_buffer){NULL, 0}),
        STICTION_ERROR_INPUT, "p_bar has 2");
  FAILS(stiction_soft_vjp(soft, STEPS, NULL, &weights, (stiction_buffer){p_bar, 2}, (stiction_buffer){u_bar, STEPS}),
        STICTION_ERROR_INPUT, "u_bar has 0");
  FAILS(stiction_soft_jacobian(soft, STEPS, NULL, (stiction_buffer){x, n}, (stiction_buffer){c, n}),
        STICTION_ERROR_INPUT, "c has");
  CHECK(p_bar[0] == -1 && u_bar[0] == -1 && c[0] == -1);
  const stiction_course nothing = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
  FAILS(stiction_soft_vjp(soft, STEPS, NULL, &nothing, (stiction_buffer){p_bar, 2}, (stiction_buffer){NULL, 0}),
        STICTION_ERROR_INPUT, "weights: must be given");
  for (int k = 0; k < 3; k++) {
    /* Nothing is allocated or simulated before it is known to have room. */
    const size_t many = k == 0 ? SIZE_MAX : (size_t)1 << (k == 1 ? 63 : 40);
    FAILS(stiction_soft_rollout(soft, many, NULL, &nothing, NULL), STICTION_ERROR_INPUT, "steps: must be at most");
    FAILS(stiction_soft_vjp(soft, many, NULL, &nothing, (stiction_buffer){p_bar, 2}, (stiction_buffer){NULL, 0}),
          STICTION_ERROR_INPUT, "steps: must be at most");
  }
  FAILS(stiction_soft_rollout(soft, 9999999, NULL, &course, NULL), STICTION_ERROR_INPUT, "x has");
  x[0] = -1;
  FAILS(stiction_soft_rollout(soft, STEPS, NULL, &course, (size_t *)((char *)&unsolved + 1)), STICTION_ERROR_POINTER,
        "unsolved");
  CHECK(x[0] == -1);
  stiction_soft *none = NULL;
  const char *const unknown[] = {"block/velocity_q"};
  const stiction_selection other = {unknown, 1, NULL, 0};
  FAILS(stiction_soft_parse(BLOCK, "block.toml", &other, &none), STICTION_ERROR_INPUT, "is no parameter");
  FAILS(stiction_soft_parse(BALL, "ball.toml", NULL, &none), STICTION_ERROR_INPUT, "has no [[soft]] bodies");
  FAILS(stiction_soft_load(path, NULL, &none), STICTION_ERROR_INPUT, "has no [[soft]] bodies");
  FAILS(stiction_soft_load("missing.toml", NULL, &none), STICTION_ERROR_IO, "missing.toml");
  CHECK(none == NULL && stiction_soft_nodes(NULL) == 0);
  free(x), free(v), free(w), free(c), free(v_w);
  stiction_soft_free(soft);
  stiction_soft_free(NULL);
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  CHECK(strcmp(stiction_version(), STICTION_VERSION) == 0);
  CHECK(strcmp(stiction_last_error(), "") == 0);
  closed_form();
  one_input();
  hulls();
  errors(arguments[1]);
  derivatives(arguments[1]);
  threads(arguments[1]);
  soft_bodies(arguments[1]);
  return failures > 0;
}
