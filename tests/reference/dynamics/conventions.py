"""Pinocchio's model of a tree and its answers in the conventions of stiction.

stiction: free joint q = [position, w x y z], v = [velocity of the origin in the world, angular velocity in the body];
ball q = [w x y z], v = angular velocity in the body. Pinocchio: x y z w, free flyer with both velocities in the body.
With T(q) = diag(R', 1) a free joint, else 1: v_pin = T v, vdot_pin = T vdot + Tdot v, tau = T' tau_pin, dq_pin = T dq.
"""
import numpy as np
import pinocchio as pin


def rotation_of(quaternion):
    w, x, y, z = quaternion
    return pin.Quaternion(w, x, y, z).normalized().toRotationMatrix()


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def symmetric(s):
    return np.array([[s[0], s[3], s[4]], [s[3], s[1], s[5]], [s[4], s[5], s[2]]])


class Tree:
    """A model as the JSON has it, in Pinocchio. Joints of Pinocchio are the joints that move, in the same order."""

    def __init__(self, model):
        self.model = pin.Model()
        self.model.gravity.linear = np.array(model["gravity"], dtype=float)
        self.names = [body["name"] for body in model["bodies"]]
        # Of each body: joint of Pinocchio that carries it, the body's frame in the joint's.
        self.places = []
        armature = []
        for body in model["bodies"]:
            joint = body["joint"]
            kind, axis, anchor = joint["kind"], np.array(joint["axis"], dtype=float), np.array(joint["anchor"], dtype=float)
            carrier, frame = (0, pin.SE3.Identity()) if body["parent"] is None else self.places[self.names.index(body["parent"])]
            rotation, position = rotation_of(joint["orientation"]), np.array(joint["position"], dtype=float)
            if kind == "fixed":
                self.places.append((carrier, frame * pin.SE3(rotation, position)))
            elif kind == "free":
                assert body["parent"] is None
                index = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), body["name"])
                self.places.append((index, pin.SE3.Identity()))
            else:
                moving = {"ball": pin.JointModelSpherical, "revolute": lambda: pin.JointModelRevoluteUnaligned(axis),
                          "prismatic": lambda: pin.JointModelPrismaticUnaligned(axis)}[kind]()
                at = pin.SE3(rotation, position + rotation @ anchor)
                index = self.model.addJoint(carrier, moving, frame * at, body["name"])
                self.places.append((index, pin.SE3(np.eye(3), -anchor)))
            armature += [joint["armature"]] * {"fixed": 0, "free": 6, "ball": 3}.get(kind, 1)
            index, frame = self.places[-1]
            inertia = pin.Inertia.Zero()
            inertia.mass, inertia.lever, inertia.inertia = body["mass"], np.array(body["center_of_mass"], dtype=float), symmetric(body["inertia"])
            if index:
                self.model.appendBodyToJoint(index, inertia, frame)
        self.bare = self.model.copy()
        self.bare.armature = np.zeros(len(armature))
        self.model.armature = np.array(armature, dtype=float)
        self.frames = [
            self.model.addFrame(pin.Frame(name, index, 0, frame, pin.FrameType.OP_FRAME), False)
            for name, (index, frame) in zip(self.names, self.places)
        ]
        self.data = self.model.createData()

    # Ours to Pinocchio's.

    def free(self):
        """First numbers in q and v of free joints."""
        return [(j.idx_q, j.idx_v) for j in self.model.joints if j.nq == 7]

    def q(self, q):
        q = np.array(q, dtype=float)
        for joint in self.model.joints:
            if joint.nq in (4, 7):
                k = joint.idx_q + joint.nq - 4
                q[k:k + 4] = np.roll(q[k:k + 4] / np.linalg.norm(q[k:k + 4]), -1)
        return q

    def rotations(self, q):
        return [(v, rotation_of(q[i + 3:i + 7])) for i, v in self.free()]

    def t(self, q):
        t = np.eye(self.model.nv)
        for j, r in self.rotations(q):
            t[j:j + 3, j:j + 3] = r.T
        return t

    def velocity(self, q, v):
        """v_pin, and its derivative in q at a fixed v."""
        out, change = self.t(q) @ v, np.zeros((self.model.nv, self.model.nv))
        for j, _ in self.rotations(q):
            change[j:j + 3, j + 3:j + 6] = skew(out[j:j + 3])
        return out, change

    def acceleration(self, q, v, vdot):
        """vdot_pin, and its derivatives in q and v."""
        t = self.t(q)
        out, dq, dv = t @ vdot, np.zeros_like(t), np.zeros_like(t)
        for j, r in self.rotations(q):
            w, u = v[j + 3:j + 6], r.T @ v[j:j + 3]
            dq[j:j + 3, j + 3:j + 6] = skew(out[j:j + 3]) - skew(w) @ skew(u)
            dv[j:j + 3, j:j + 3] = -skew(w) @ r.T
            dv[j:j + 3, j + 3:j + 6] = skew(u)
            out[j:j + 3] -= np.cross(w, u)
        return out, dq, dv

    # Answers.

    def mass_matrix(self, q):
        t = self.t(q)
        m = pin.crba(self.model, self.data, self.q(q), pin.Convention.WORLD)
        m = np.triu(m) + np.triu(m, 1).T
        return t.T @ m @ t

    def rnea(self, q, v, vdot):
        a, _, _ = self.acceleration(q, v, vdot)
        return self.t(q).T @ pin.rnea(self.model, self.data, self.q(q), self.velocity(q, v)[0], a)

    def aba(self, q, v, tau):
        t = self.t(q)
        vdot = t.T @ pin.aba(self.model, self.data, self.q(q), self.velocity(q, v)[0], t @ tau, pin.Convention.LOCAL)
        for j, r in self.rotations(q):
            vdot[j:j + 3] += r @ np.cross(v[j + 3:j + 6], r.T @ v[j:j + 3])
        return vdot

    def rnea_derivatives(self, q, v, vdot):
        """In q, v, vdot."""
        t, (u, u_q), (a, a_q, a_v) = self.t(q), self.velocity(q, v), self.acceleration(q, v, vdot)
        dq, dv, da = pin.computeRNEADerivatives(self.model, self.data, self.q(q), u, a)
        da = np.triu(da) + np.triu(da, 1).T
        tau = self.data.tau
        out_q = t.T @ (dq @ t + dv @ u_q + da @ a_q)
        for j, r in self.rotations(q):
            out_q[j:j + 3, j + 3:j + 6] -= r @ skew(tau[j:j + 3])
        return out_q, t.T @ (dv @ t + da @ a_v), t.T @ da @ t

    def aba_derivatives(self, q, v, tau):
        """In q, v, tau."""
        t, (u, u_q) = self.t(q), self.velocity(q, v)
        f, f_q = t @ tau, np.zeros_like(t)
        for j, r in self.rotations(q):
            f_q[j:j + 3, j + 3:j + 6] = skew(f[j:j + 3])
        dq, dv, df = pin.computeABADerivatives(self.model, self.data, self.q(q), u, f)
        df = np.triu(df) + np.triu(df, 1).T
        # vdot = T' (a_pin - Tdot v), Tdot v = -w x (R' velocity).
        out_q, out_v = dq @ t + dv @ u_q + df @ f_q, dv @ t
        turned = self.data.ddq.copy()
        for j, r in self.rotations(q):
            w = v[j + 3:j + 6]
            turned[j:j + 3] += np.cross(w, u[j:j + 3])
            out_q[j:j + 3, j + 3:j + 6] += skew(w) @ skew(u[j:j + 3])
            out_v[j:j + 3, j:j + 3] += skew(w) @ r.T
            out_v[j:j + 3, j + 3:j + 6] -= skew(u[j:j + 3])
        out_q, out_v = t.T @ out_q, t.T @ out_v
        for j, r in self.rotations(q):
            out_q[j:j + 3, j + 3:j + 6] -= r @ skew(turned[j:j + 3])
        return out_q, out_v, t.T @ df @ t

    def regressor(self, q, v, vdot):
        """d rnea / d inertial parameters; columns of a body: mass, mass * centre of mass (3), xx yy zz xy xz yz about its origin."""
        a, _, _ = self.acceleration(q, v, vdot)
        of_joints = pin.computeJointTorqueRegressor(self.model, self.data, self.q(q), self.velocity(q, v)[0], a)
        of_joints = self.t(q).T @ of_joints
        out = np.zeros((self.model.nv, 10 * len(self.names)))
        for body, (joint, frame) in enumerate(self.places):
            if joint:
                out[:, 10 * body:10 * body + 10] = of_joints[:, 10 * (joint - 1):10 * joint] @ carried(frame)
        return out

    def jacobian(self, q, body):
        """Linear (of the origin) and angular, in the world."""
        j = pin.computeFrameJacobian(self.model, self.data, self.q(q), self.frames[body], pin.LOCAL_WORLD_ALIGNED) @ self.t(q)
        return j[:3], j[3:]

    def place(self, q, body):
        """Position of the origin and rotation matrix, in the world."""
        pin.forwardKinematics(self.model, self.data, self.q(q))
        frame = pin.updateFramePlacement(self.model, self.data, self.frames[body])
        return frame.translation.copy(), frame.rotation.copy()

    def energies(self, q, v):
        """Kinetic with that of the armature (added here: Pinocchio's sum counts it for some kinds of joints only); potential
        of the bodies that move."""
        u = self.velocity(q, v)[0]
        kinetic = pin.computeKineticEnergy(self.bare, self.bare.createData(), self.q(q), u) + (self.model.armature * u) @ u / 2
        return kinetic, pin.computePotentialEnergy(self.model, self.data, self.q(q))

    def center_of_mass(self, q):
        """With its Jacobian."""
        jacobian = pin.jacobianCenterOfMass(self.model, self.data, self.q(q)) @ self.t(q)
        return self.data.com[0].copy(), jacobian

    def moved(self, q, dq):
        """q (+) dq in our numbers."""
        out = np.array(q, dtype=float)
        moved = pin.integrate(self.model, self.q(q), dq)
        for joint in self.model.joints:
            i, j, n = joint.idx_q, joint.idx_v, joint.nq
            if n == 7:
                out[i:i + 3] += dq[j:j + 3]
            elif n != 4:
                out[i:i + n] = moved[i:i + n]
            if n in (4, 7):
                k = i + n - 4
                out[k:k + 4] = np.roll(moved[k:k + 4], 1)
        return out


def carried(frame):
    """10 x 10: inertial parameters in a frame (ours) to those about the joint (Pinocchio's order: m, mc, xx xy yy xz yz zz)."""
    h = frame.homogeneous
    columns = []
    for unit in np.eye(10):
        i = symmetric(unit[4:10])
        pseudo = np.zeros((4, 4))
        pseudo[:3, :3] = np.trace(i) / 2 * np.eye(3) - i
        pseudo[:3, 3] = pseudo[3, :3] = unit[1:4]
        pseudo[3, 3] = unit[0]
        pseudo = h @ pseudo @ h.T
        s = pseudo[:3, :3]
        i = np.trace(s) * np.eye(3) - s
        columns.append([pseudo[3, 3], *pseudo[:3, 3], i[0, 0], i[0, 1], i[1, 1], i[0, 2], i[1, 2], i[2, 2]])
    return np.array(columns).T
