// Times Pinocchio's algorithms on a model read from standard input (written by time_pinocchio.py), thread CPU time,
// median of 21 blocks, microseconds. Templates only: all of it is compiled with the flags given here.
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

static double now()
{
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

static double kept = 0;

template<typename F>
static void report(const std::string & scene, const char * name, F f)
{
  const int repeat = 2000;
  std::vector<double> times;
  for (int block = 0; block < 21; ++block)
  {
    const double start = now();
    for (int i = 0; i < repeat; ++i)
      f();
    times.push_back((now() - start) / repeat);
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"scene\": \"%s\", \"algorithm\": \"%s\", \"us\": %.3f}\n", scene.c_str(), name, times[10]);
}

int main()
{
  using namespace pinocchio;
  std::string scene, kind;
  int joints, nq, nv;
  std::cin >> scene >> joints;
  Model model;
  for (int k = 0; k < joints; ++k)
  {
    std::size_t parent;
    SE3::Vector3 position, center;
    double mass, armature, i[6];
    std::cin >> kind >> parent;
    for (int c = 0; c < 3; ++c)
      std::cin >> position[c];
    std::cin >> mass;
    for (int c = 0; c < 3; ++c)
      std::cin >> center[c];
    for (double & x : i)
      std::cin >> x;
    std::cin >> armature;
    const SE3 place(SE3::Matrix3::Identity(), position);
    const std::string name = "j" + std::to_string(k);
    JointIndex joint;
    if (kind == "free")
      joint = model.addJoint(parent, JointModelFreeFlyer(), place, name);
    else if (kind == "x")
      joint = model.addJoint(parent, JointModelRX(), place, name);
    else if (kind == "y")
      joint = model.addJoint(parent, JointModelRY(), place, name);
    else
      joint = model.addJoint(parent, JointModelRZ(), place, name);
    SE3::Matrix3 inertia;
    inertia << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
    model.appendBodyToJoint(joint, Inertia(mass, center, inertia));
    if (kind != "free")
      model.armature[model.joints[joint].idx_v()] = armature;
  }
  std::cin >> nq >> nv;
  Eigen::VectorXd q(nq), v(nv), a(nv), tau(nv), expected(nv);
  for (int k = 0; k < nq; ++k)
    std::cin >> q[k];
  for (Eigen::VectorXd * x : {&v, &a, &tau, &expected})
    for (int k = 0; k < nv; ++k)
      std::cin >> (*x)[k];
  Data data(model);
  if (!std::cin || nq != model.nq || nv != model.nv || !aba(model, data, q, v, tau, Convention::LOCAL).isApprox(expected, 1e-10))
  {
    std::fprintf(stderr, "the model was not understood\n");
    return 1;
  }

  report(scene, "empty", [&] { kept += q[0]; asm volatile("" ::: "memory"); });
  report(scene, "forward_kinematics", [&] { forwardKinematics(model, data, q, v); });
  report(scene, "rnea", [&] { kept += rnea(model, data, q, v, a)[0]; });
  report(scene, "crba local", [&] { kept += crba(model, data, q, Convention::LOCAL)(0, 0); });
  report(scene, "crba world", [&] { kept += crba(model, data, q, Convention::WORLD)(0, 0); });
  report(scene, "aba local", [&] { kept += aba(model, data, q, v, tau, Convention::LOCAL)[0]; });
  report(scene, "aba world", [&] { kept += aba(model, data, q, v, tau, Convention::WORLD)[0]; });
  report(scene, "rnea derivatives", [&] { computeRNEADerivatives(model, data, q, v, a); kept += data.dtau_dq(0, 0); });
  report(scene, "aba derivatives", [&] { computeABADerivatives(model, data, q, v, tau); kept += data.ddq_dq(0, 0); });
  if (kept == 0.123)
    std::puts("");
  return 0;
}
