"""The step in Drake's own coordinates, with its derivatives by Drake's automatic differentiation and its map from v to the rate of q."""
import numpy as np
import pinocchio as pin
from pydrake.autodiffutils import AutoDiffXd, ExtractGradient, InitializeAutoDiff
from pydrake.common.eigen_geometry import Quaternion
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint, FixedOffsetFrame, MultibodyForces_, PrismaticJoint, QuaternionFloatingJoint, RevoluteJoint, RotationalInertia,
    SpatialInertia, WeldJoint,
)


def rotation(quaternion):
    return RotationMatrix(Quaternion(np.array(quaternion) / np.linalg.norm(quaternion)))


class ByDrake:
    """A model as the JSON has it, and its law of forces (`Law` of answers.py)."""

    def __init__(self, model, law):
        self.law = law
        self.plant = MultibodyPlant(0.0)
        self.plant.mutable_gravity_field().set_gravity_vector(model["gravity"])
        self.joints, armature, frames = [], [], {None: self.plant.world_frame()}
        for body in model["bodies"]:
            name, joint = body["name"], body["joint"]
            inertia = SpatialInertia.MakeFromCentralInertia(body["mass"], body["center_of_mass"], RotationalInertia(*body["inertia"]))
            own = frames[name] = self.plant.AddRigidBody(name, inertia).body_frame()
            kind, anchor, parent = joint["kind"], np.array(joint["anchor"]), frames[body["parent"]]
            turn = rotation(joint["orientation"])
            place = RigidTransform(turn, joint["position"] + turn @ anchor)
            if kind == "fixed":
                self.plant.AddJoint(WeldJoint(name, parent, own, RigidTransform(turn, joint["position"])))
                continue
            if kind == "free":
                moving = QuaternionFloatingJoint(name, parent, own)
            else:
                of_parent = self.plant.AddFrame(FixedOffsetFrame(f"{name}_F", parent, place))
                of_child = self.plant.AddFrame(FixedOffsetFrame(f"{name}_M", own, RigidTransform(anchor)))
                moving = BallRpyJoint(name, of_parent, of_child) if kind == "ball" else \
                    {"revolute": RevoluteJoint, "prismatic": PrismaticJoint}[kind](name, of_parent, of_child, joint["axis"])
            self.joints.append(self.plant.AddJoint(moving))
            armature += [joint["armature"]] * {"free": 6, "ball": 3}.get(kind, 1)
        self.armature = np.array(armature)
        self.plant.Finalize()
        # Numbers of v in the order of the model, as Drake counts them.
        self.order = np.concatenate([np.arange(j.velocity_start(), j.velocity_start() + j.num_velocities()) for j in self.joints])
        self.differentiable = self.plant.ToAutoDiffXd()

    def step(self, q, v, forces, controls, dt):
        """The end as quaternions, positions and v, A and B; q with quaternions at ball joints too, in the order of the model."""
        plant, order, law = self.plant, self.order, self.law
        nv, context = plant.num_velocities(), plant.CreateDefaultContext()
        own_q, own_v, place = np.zeros(plant.num_positions()), np.zeros(nv), 0
        own_v[order] = v
        for j in self.joints:
            count = 4 if j.num_velocities() == 3 else j.num_positions()
            numbers, place = q[place:place + count], place + count
            if j.num_velocities() == 3:
                numbers = RollPitchYaw(rotation(numbers)).vector()
            own_q[j.position_start():j.position_start() + j.num_positions()] = numbers
        plant.SetPositions(context, own_q)
        plant.SetVelocities(context, own_v)
        rates = np.array([plant.MapVelocityToQDot(context, e) for e in np.eye(nv)]).T

        matrix = plant.CalcMassMatrix(context)[np.ix_(order, order)] + np.diag(self.armature + dt * law.damping)
        still, _ = self.inverse_dynamics(rates, own_q, own_v, np.zeros(nv))
        rate = np.linalg.solve(matrix, forces + law.of(q, v, controls) - law.damping * v - still)
        _, change = self.inverse_dynamics(rates, own_q, own_v, rate)
        change[:, :nv] += np.diag(law.of_q)
        change[:, nv:] += np.diag(law.of_v + law.damping)
        rate_x = np.linalg.solve(matrix, np.hstack([-change, np.eye(nv), law.gain]))
        after, after_x = v + dt * rate, dt * rate_x
        after_x[:, nv:2 * nv] += np.eye(nv)

        # Turns on the left: R+ = exp(dt w+) R.
        full, end, i, k = np.vstack([np.eye(nv, after_x.shape[1]) + dt * after_x, after_x]), q.copy(), 0, 0
        for j in self.joints:
            turning = j.num_velocities() > 1
            shift = slice(k + 3 * turning, k + j.num_velocities())
            if turning:
                turn = slice(k, k + 3)
                angle = dt * after[turn]
                full[turn] = dt * pin.Jexp3(-angle) @ after_x[turn]
                full[turn, turn] += pin.exp3(angle)
                x, y, z, w = q[[i + 1, i + 2, i + 3, i]]
                moved = (pin.Quaternion(pin.exp3(angle)) * pin.Quaternion(w, x, y, z)).coeffs()
                end[i:i + 4] = np.roll(moved, 1)
            end[i + 4 * turning:i + 4 * turning + shift.stop - shift.start] += dt * after[shift]
            i, k = i + j.num_velocities() + turning, k + j.num_velocities()
        return np.concatenate([end, after]), full[:, :2 * nv], full[:, 2 * nv:]

    def inverse_dynamics(self, rates, q, v, rate):
        """Forces that make v change at `rate` (in the order of the model), and their derivatives in dq and v."""
        plant, order, nv = self.differentiable, self.order, len(v)
        pick = np.eye(nv)[:, order]
        own_q = InitializeAutoDiff(q, np.hstack([rates @ pick, np.zeros((len(q), nv))])).ravel()
        own_v = InitializeAutoDiff(v, np.hstack([np.zeros((nv, nv)), pick])).ravel()
        own_rate = np.zeros(nv)
        own_rate[order] = rate
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, own_q)
        plant.SetVelocities(context, own_v)
        gravity = MultibodyForces_[AutoDiffXd](plant)
        plant.CalcForceElementsContribution(context, gravity)
        forces = plant.CalcInverseDynamics(context, InitializeAutoDiff(own_rate, np.zeros((nv, 2 * nv))).ravel(), gravity)
        return np.array([force.value() for force in forces])[order], ExtractGradient(forces)[order]
