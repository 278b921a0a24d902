/* stiction.h - the C interface of stiction: simulation of rigid and soft bodies with frictional contact, and
 * its derivatives.
 *
 *   cargo rustc --release --lib --crate-type cdylib --features c_interface     makes libstiction.so
 *   cc program.c -Iinclude -Ltarget/release -lstiction -Wl,-rpath,target/release
 *
 * A scene is a discrete system x+ = f(x, u; p):
 *
 *   stiction_model *model;
 *   stiction_data *data;
 *   double x[13], u[6] = {0};
 *   if (stiction_model_load("scene.toml", 0, &model) || stiction_data_new(model, &data) ||
 *       stiction_initial_state(model, NULL, x, 13) || stiction_step(data, x, 13, u, 6, x, 13, NULL)) {
 *     fprintf(stderr, "%s\n", stiction_last_error());
 *     exit(1);
 *   }
 *   stiction_data_free(data);
 *   stiction_model_free(model);
 *
 * Vectors. x = [q; v], nq + nv numbers: of a free body the position of its origin in the world (m) and its
 * quaternion w x y z, body to world; the velocity of the origin in the world (m/s) and the angular velocity
 * in the body (rad/s); of a ball joint a quaternion and an angular velocity; of other joints angle or
 * distance, and its rate. Quaternions in x may have any norm between 1e-6 and 1e6: they are normalised
 * first. u: the selected inputs, at first the controls of the actuators, or all generalised forces (N, N m)
 * if there are none. p: the selected parameters, at first none. Changes of x are tangent vectors
 * dx = [dq; dv], 2 nv numbers; those of an orientation are rotation vectors in the body (rad). SI units; z is
 * up.
 *
 * Buffers belong to the caller and hold exactly the numbers that are said here; matrices are column-major
 * without gaps. They may overlap: stiction_step(data, x, nx, u, nu, x, nx, NULL) is well. Nothing is written
 * when a call fails. For no numbers, such as u of a scene without inputs, NULL will do.
 *
 * Errors. Functions that return int return 0 or a code of `stiction_error`; then stiction_last_error() says
 * what is wrong, where, and what to try. Functions that return a size return 0, those that return a name
 * NULL. A null handle is an error, not a crash; a handle that was freed is not recognised. A contact problem
 * that is not solved to tolerance is not an error, nor is a step that no body makes: the report says so. No
 * call ends the process, throws or prints.
 *
 * Threads. A model is never changed: any number of threads may use it. Data are for one thread at a time;
 * use by two at once is found and is an error (STICTION_ERROR_BUSY). Data keep what they need of their model,
 * which may be freed before them. Error messages belong to the thread.
 *
 * Strings are UTF-8, ended by zero. Those returned belong to the library.
 */
#ifndef STICTION_H
#define STICTION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version this header is of. */
#define STICTION_VERSION "0.1.0"

/* A scene. */
typedef struct stiction_model stiction_model;
/* What is u and p, and the memory steps are computed in. */
typedef struct stiction_data stiction_data;
/* A scene of soft bodies, alone or beside rigid ones. */
typedef struct stiction_soft stiction_soft;

typedef enum stiction_error {
  STICTION_OK = 0,
  STICTION_ERROR_POINTER = 1,   /* a pointer is null or misaligned */
  STICTION_ERROR_INPUT = 2,     /* a file, text, name, size or number is not usable */
  STICTION_ERROR_IO = 3,        /* a file cannot be read */
  STICTION_ERROR_UNDEFINED = 4, /* no finite step, or no derivative, at this x and u */
  STICTION_ERROR_BUSY = 5,      /* another thread is using these data */
  STICTION_ERROR_INTERNAL = 6   /* a defect of the library */
} stiction_error;

/* What names stiction_name gives. */
typedef enum stiction_names {
  STICTION_STATES = 0,     /* the numbers of x: "box/px", "arm/q", .., "arm/v" */
  STICTION_INPUTS = 1,     /* all inputs: "box/fx", "arm/f", .., then controls "motor/u" */
  STICTION_PARAMETERS = 2, /* all parameters: "box/mass", "floor-box/mu", "gravity/z", .. */
  STICTION_KEYFRAMES = 3,
  STICTION_WARNINGS = 4 /* what is not understood in the file or looks wrong, with its place */
} stiction_names;

/* Flags of stiction_model_load: the first link of a URDF floats; otherwise it is fixed to the world. */
#define STICTION_FLOATING_BASE 1u
/* How many vertices the hull of a mesh of a URDF or MJCF that does not say it itself has for contact at most, 4 or
 * more; 0 for all, 64 without this flag. More than 16777213 are all. */
#define STICTION_MAX_HULL_VERTICES(n) ((((n) <= 0xfffffdu ? (uint32_t)(n) : 0u) + 1u) << 8)

/* In what Jacobians are. */
typedef enum stiction_coordinates {
  STICTION_TANGENT = 0, /* tangent vectors: n = 2 nv rows; x+ (-) nominal x+ by x (+) dx */
  STICTION_AMBIENT = 1  /* the numbers of x themselves: n = nq + nv rows, for solvers that know no other */
} stiction_coordinates;

/* How the contact problems of a step were solved. */
typedef struct stiction_report {
  int status;      /* 0 all solved; else of the last that was not: 1 stalled above the tolerance,
                      2 iteration limit */
  int unsolved;    /* how many problems are above the tolerance: x+ is the best found */
  double residual; /* the largest, relative */
  double margin;   /* scale-free distance to the nearest change of a contact's mode, where the derivative
                      jumps; infinite without contacts */
  int implausible; /* 1 if no body makes this step (impulses, energy or speed from nothing, depths beyond what is
                      thick): x+ and all that follows are not to be trusted; else 0 */
} stiction_report;

/* Room for numbers. */
typedef struct stiction_buffer {
  double *data; /* NULL: not wanted */
  size_t size;  /* how many numbers */
} stiction_buffer;

/* What stiction_linearize computes: dx+ = A dx + B du + C dp, n rows each. */
typedef struct stiction_jacobian {
  stiction_buffer x_next; /* nq + nv */
  stiction_buffer a;      /* n x n */
  stiction_buffer b;      /* n x nu */
  stiction_buffer c;      /* n x np */
  stiction_report report; /* written */
} stiction_jacobian;

/* The version of the library. */
const char *stiction_version(void);

/* The message of the last call that failed on this thread, "" if none did. It stays until the next failure
 * on this thread. */
const char *stiction_last_error(void);

/* Reads a scene: .toml, MJCF (.xml, .mjcf) or URDF (.urdf, .xml). *model is to be freed; it is not touched
 * on failure. */
int stiction_model_load(const char *path, uint32_t flags, stiction_model **model);

/* The same from the text of a file; what begins with '<' is MJCF or URDF. `name` stands for the file in
 * messages, and for where the files it names are. */
int stiction_model_parse(const char *text, const char *name, uint32_t flags, stiction_model **model);

/* Frees a model. NULL is well. */
void stiction_model_free(stiction_model *model);

/* Length of q, of v, and the time step (s). */
size_t stiction_nq(const stiction_model *model);
size_t stiction_nv(const stiction_model *model);
double stiction_time_step(const stiction_model *model);

/* Names, which stay as long as the model: how many there are of a kind (stiction_names), and one of them,
 * counted from 0; NULL beyond the last. */
size_t stiction_name_count(const stiction_model *model, int kind);
const char *stiction_name(const stiction_model *model, int kind, size_t index);

/* Where the scene starts, or a keyframe if that is not NULL: x, nq + nv numbers. */
int stiction_initial_state(const stiction_model *model, const char *keyframe, double *x, size_t x_size);

/* Data of a model. *data is to be freed; it is not touched on failure. */
int stiction_data_new(const stiction_model *model, stiction_data **data);

/* Frees data. NULL is well. */
void stiction_data_free(stiction_data *data);

/* Makes the inputs of these names u, in this order; the others stay as the scene has them. "controls",
 * "forces" and "all" stand for many. */
int stiction_select_inputs(stiction_data *data, const char *const *names, size_t count);

/* Makes the parameters of these names p, in this order, none twice, also not by "box/inertia" and
 * "box/inertia/xx". Values that were set stay. */
int stiction_select_parameters(stiction_data *data, const char *const *names, size_t count);

/* Length of u and of p. */
size_t stiction_nu(const stiction_data *data);
size_t stiction_np(const stiction_data *data);

/* The name of an input of u, counted from 0; it stays until inputs are selected again. */
const char *stiction_input_name(const stiction_data *data, size_t index);

/* u as the scene has it. */
int stiction_initial_input(const stiction_data *data, double *u, size_t u_size);

/* p as it is, at first as the scene has it, and other values for it: numbers that the parameters can have,
 * such as a mass of at least 1e-9 and a restitution from 0 to 1. */
int stiction_parameters(const stiction_data *data, double *p, size_t p_size);
int stiction_set_parameters(stiction_data *data, const double *p, size_t p_size);

/* warm != 0: solvers start from what the call before left, which is faster along a trajectory and agrees up
 * to the solver's tolerance. At first a step is a function of x, u and p alone. */
int stiction_set_warm(stiction_data *data, int warm);

/* x_next = f(x, u). `report` may be NULL. */
int stiction_step(stiction_data *data, const double *x, size_t x_size, const double *u, size_t u_size,
                  double *x_next, size_t x_next_size, stiction_report *report);

/* f with its Jacobians in tangent vectors or in the numbers of x (stiction_coordinates). */
int stiction_linearize(stiction_data *data, int coordinates, const double *x, size_t x_size, const double *u,
                       size_t u_size, stiction_jacobian *jacobian);

/* product = [A B C] direction: of [dx; du; dp], 2 nv + nu + np numbers, a tangent vector of x+. */
int stiction_jvp(stiction_data *data, const double *x, size_t x_size, const double *u, size_t u_size,
                 const double *direction, size_t direction_size, double *product, size_t product_size);

/* product = [A B C]' weights: of 2 nv weights the adjoints of [dx; du; dp], 2 nv + nu + np numbers. One
 * reverse sweep, without the matrices. */
int stiction_vjp(stiction_data *data, const double *x, size_t x_size, const double *u, size_t u_size,
                 const double *weights, size_t weights_size, double *product, size_t product_size);

/* The Hessian of weights' (x+ (-) nominal x+) in [dx; du; dp], square: the second-order term of differential
 * dynamic programming. */
int stiction_hessian(stiction_data *data, const double *x, size_t x_size, const double *u, size_t u_size,
                     const double *weights, size_t weights_size, double *product, size_t product_size);

/* moved = x (+) dx: x moved by a tangent vector. */
int stiction_integrate(stiction_data *data, const double *x, size_t x_size, const double *dx, size_t dx_size,
                       double *moved, size_t moved_size);

/* dx = to (-) from: the tangent vector that moves `from` to `to`. */
int stiction_difference(stiction_data *data, const double *from, size_t from_size, const double *to,
                        size_t to_size, double *dx, size_t dx_size);

/* Soft bodies. Their motion is a function of parameters p and, with rigid bodies beside them, of inputs of
 * these in each step, U:
 *
 *   const char *p[] = {"ball/youngs_modulus"};
 *   stiction_selection selection = {p, 1, NULL, 0};
 *   stiction_soft *soft;
 *   stiction_soft_load("ball.toml", &selection, &soft);
 *   size_t n = 3 * stiction_soft_nodes(soft);
 *   double *x = malloc(101 * n * sizeof *x);
 *   stiction_course course = {{x, 101 * n}, {NULL, 0}, {NULL, 0}};
 *   stiction_soft_rollout(soft, 100, NULL, &course, NULL);
 *
 * The nodes of all soft bodies stand one after the other, x y z of each (m). A handle is never changed: any
 * number of threads may use it. What is said above of buffers and errors holds here too; a buffer that is
 * {NULL, 0} is not wanted. */

/* The names of p and u; each may be none. */
typedef struct stiction_selection {
  const char *const *parameters;
  size_t parameter_count;
  const char *const *inputs;
  size_t input_count;
} stiction_selection;

/* A motion, or weights of one: at the start and after each step, (steps + 1) times 3 N, 3 N, and nq + nv
 * numbers; weights of rigid bodies are of tangent vectors, 2 nv numbers. */
typedef struct stiction_course {
  stiction_buffer x;     /* places of nodes */
  stiction_buffer v;     /* velocities of nodes */
  stiction_buffer rigid; /* states of rigid bodies */
} stiction_course;

/* p, and U, steps times nu numbers, step by step; {NULL, 0} for what the scene has. */
typedef struct stiction_numbers {
  const double *p;
  size_t p_size;
  const double *u;
  size_t u_size;
} stiction_numbers;

/* Reads a scene of soft bodies (.toml), or the text of one. `selection` may be NULL. *soft is to be freed;
 * it is not touched on failure. */
int stiction_soft_load(const char *path, const stiction_selection *selection, stiction_soft **soft);
int stiction_soft_parse(const char *text, const char *name, const stiction_selection *selection,
                        stiction_soft **soft);

/* Frees it. NULL is well. */
void stiction_soft_free(stiction_soft *soft);

/* How many nodes there are, N; how many velocities rigid bodies have, nv; the time step (s). */
size_t stiction_soft_nodes(const stiction_soft *soft);
size_t stiction_soft_nv(const stiction_soft *soft);
double stiction_soft_time_step(const stiction_soft *soft);

/* Names, which stay as long as the handle: states and inputs of rigid bodies, parameters, warnings
 * (stiction_names). */
size_t stiction_soft_name_count(const stiction_soft *soft, int kind);
const char *stiction_soft_name(const stiction_soft *soft, int kind, size_t index);

/* The node of a marker, "ball/top". */
int stiction_soft_marker(const stiction_soft *soft, const char *name, size_t *node);

/* p of the scene. */
int stiction_soft_parameters(const stiction_soft *soft, double *p, size_t p_size);

/* The motion, of 10^7 steps at most. `numbers` and `unsolved` (how many steps were not solved) may be NULL. */
int stiction_soft_rollout(const stiction_soft *soft, size_t steps, const stiction_numbers *numbers,
                          const stiction_course *course, size_t *unsolved);

/* Where the nodes are after some steps, 3 N numbers, and how that changes with p, 3 N x np, by forward
 * sensitivities. Here and below, a step that is not solved, or that has no derivative, is
 * STICTION_ERROR_UNDEFINED. */
int stiction_soft_jacobian(const stiction_soft *soft, size_t steps, const stiction_numbers *numbers,
                           stiction_buffer x, stiction_buffer c);

/* The gradient of a weighed motion in p, and in U if that is given, by one adjoint sweep. What is {NULL, 0} is
 * not weighed; not all may be. The motion is kept for it, in memory that grows with steps times nodes. */
int stiction_soft_vjp(const stiction_soft *soft, size_t steps, const stiction_numbers *numbers,
                      const stiction_course *weights, stiction_buffer p_bar, stiction_buffer u_bar);

#ifdef __cplusplus
}
#endif

#endif
