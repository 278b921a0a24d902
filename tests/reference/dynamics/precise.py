"""Dynamics of trees in 300-bit arithmetic and the conventions of stiction, written down a second time.

Newton-Euler in the world frame about body origins; shares no formula with Pinocchio's recursions or their conversion.
Derivatives are central differences with step 2^-80: exact to about 48 digits.
"""
import gmpy2
import numpy as np

gmpy2.get_context().precision = 300
STEP = gmpy2.mpfr(2) ** -80
NQ = {"fixed": 0, "free": 7, "ball": 4, "revolute": 1, "prismatic": 1}
NV = {"fixed": 0, "free": 6, "ball": 3, "revolute": 1, "prismatic": 1}


def big(x):
    """Numbers of an array as they are in f64, in many digits."""
    x = np.asarray(x, dtype=object)
    out = np.empty(x.shape, dtype=object)
    out.flat = [gmpy2.mpfr(n) if isinstance(n, gmpy2.mpfr) else gmpy2.mpfr(float(n)) for n in x.flat]
    return out


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object)


def rotation_of(quaternion):
    """w x y z, of any length near 1."""
    w, x, y, z = quaternion / gmpy2.sqrt(quaternion.dot(quaternion))
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ], dtype=object)


def turned(quaternion, turn):
    """quaternion * exp(turn)."""
    angle = gmpy2.sqrt(turn.dot(turn))
    s = gmpy2.sin(angle / 2) / angle if angle else gmpy2.mpfr(0.5)
    b = np.concatenate([[gmpy2.cos(angle / 2)], s * turn])
    a = quaternion
    return np.array([
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ], dtype=object)


class Precise:
    """A model as the JSON has it."""

    def __init__(self, model):
        names = [body["name"] for body in model["bodies"]]
        self.bodies, self.nq, self.nv = [], 0, 0
        for body in model["bodies"]:
            joint = body["joint"]
            parent = None if body["parent"] is None else names.index(body["parent"])
            item = {
                "parent": parent, "kind": joint["kind"], "q": self.nq, "v": self.nv, "axis": big(joint["axis"]),
                "position": big(joint["position"]), "rotation": rotation_of(big(joint["orientation"])),
                "anchor": big(joint["anchor"]), "armature": big([joint["armature"]])[0],
            }
            item["moves"] = joint["kind"] != "fixed" or (parent is not None and self.bodies[parent]["moves"])
            self.bodies.append(item)
            self.nq += NQ[joint["kind"]]
            self.nv += NV[joint["kind"]]
        self.gravity = big(model["gravity"])
        self.inertial = [inertial_parameters(body) for body in model["bodies"]]

    def moved(self, q, dq):
        """q (+) dq: addition, R exp(dq) on quaternions."""
        out = q.copy()
        for body in self.bodies:
            i, j, kind = body["q"], body["v"], body["kind"]
            if kind == "free":
                out[i:i + 3] = q[i:i + 3] + dq[j:j + 3]
                out[i + 3:i + 7] = turned(q[i + 3:i + 7], dq[j + 3:j + 6])
            elif kind == "ball":
                out[i:i + 4] = turned(q[i:i + 4], dq[j:j + 3])
            elif kind != "fixed":
                out[i] = q[i] + dq[j]
        return out

    def kinematics(self, q, v, vdot):
        """Of each body: rotation, origin, angular velocity, velocity of the origin, and the accelerations, in the world."""
        out = []
        zero = big(np.zeros(3))
        for body in self.bodies:
            if body["parent"] is None:
                r, p, w, u, wd, ud = big(np.eye(3)), zero, zero, zero, zero, zero
            else:
                r, p, w, u, wd, ud = out[body["parent"]]
            i, j, kind = body["q"], body["v"], body["kind"]
            if kind == "free":
                rotation = rotation_of(q[i + 3:i + 7])
                spin = rotation.dot(v[j + 3:j + 6])
                out.append((rotation, q[i:i + 3].copy(), spin, v[j:j + 3].copy(), rotation.dot(vdot[j + 3:j + 6]), vdot[j:j + 3].copy()))
                continue
            frame = r.dot(body["rotation"])
            slide = slide_rate = slide_rate2 = zero
            turn = big(np.eye(3))
            rate = rate2 = zero
            if kind == "ball":
                turn, rate, rate2 = rotation_of(q[i:i + 4]), v[j:j + 3], vdot[j:j + 3]
            elif kind == "revolute":
                axis = body["axis"]
                k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]], dtype=object)
                turn = big(np.eye(3)) + gmpy2.sin(q[i]) * k + (1 - gmpy2.cos(q[i])) * k.dot(k)
                rate, rate2 = axis * v[j], axis * vdot[j]
            elif kind == "prismatic":
                slide, slide_rate, slide_rate2 = body["axis"] * q[i], body["axis"] * v[j], body["axis"] * vdot[j]
            rotation = frame.dot(turn)
            # The point of the joint, carried by the parent.
            arm = r.dot(body["position"]) + frame.dot(body["anchor"] + slide)
            joint = p + arm
            drive = frame.dot(slide_rate)
            joint_velocity = u + cross(w, arm) + drive
            joint_acceleration = ud + cross(wd, arm) + cross(w, cross(w, arm)) + 2 * cross(w, drive) + frame.dot(slide_rate2)
            relative = rotation.dot(rate)
            spin = w + relative
            spin_rate = wd + cross(w, relative) + rotation.dot(rate2)
            back = -rotation.dot(body["anchor"])
            out.append((
                rotation, joint + back, spin, joint_velocity + cross(spin, back), spin_rate,
                joint_acceleration + cross(spin_rate, back) + cross(spin, cross(spin, back)),
            ))
        return out

    def rnea(self, q, v, vdot, inertial=None, armature=True):
        inertial = self.inertial if inertial is None else inertial
        places = self.kinematics(q, v, vdot)
        wrenches = []
        for body, place, phi in zip(self.bodies, places, inertial):
            r, p, w, u, wd, ud = place
            if not body["moves"]:
                wrenches.append([big(np.zeros(3)), big(np.zeros(3))])
                continue
            moment = r.dot(phi[1:4])
            inertia = r.dot(symmetric(phi[4:10])).dot(r.T)
            ud = ud - self.gravity
            force = phi[0] * ud + cross(wd, moment) + cross(w, cross(w, moment))
            torque = cross(moment, ud) + inertia.dot(wd) + cross(w, inertia.dot(w))
            wrenches.append([force, torque])
        tau = big(np.zeros(self.nv))
        for index in reversed(range(len(self.bodies))):
            body, (r, p, *_) = self.bodies[index], places[index]
            force, torque = wrenches[index]
            j, kind = body["v"], body["kind"]
            if kind == "free":
                tau[j:j + 3], tau[j + 3:j + 6] = force, r.T.dot(torque)
            elif kind in ("ball", "revolute"):
                about = r.T.dot(torque - cross(r.dot(body["anchor"]), force))
                tau[j:j + NV[kind]] = about if kind == "ball" else [about.dot(body["axis"])]
            elif kind == "prismatic":
                tau[j] = r.T.dot(force).dot(body["axis"])
            if armature:
                for k in range(j, j + NV[kind]):
                    tau[k] += body["armature"] * vdot[k]
            if body["parent"] is not None:
                other = wrenches[body["parent"]]
                other[0] = other[0] + force
                other[1] = other[1] + torque + cross(p - places[body["parent"]][1], force)
        return tau

    def mass_matrix(self, q):
        zero = big(np.zeros(self.nv))
        gravity, self.gravity = self.gravity, big(np.zeros(3))
        columns = [self.rnea(q, zero, e) for e in big(np.eye(self.nv))]
        self.gravity = gravity
        return np.array(columns, dtype=object).T

    def aba(self, q, v, tau):
        return solve(self.mass_matrix(q), tau - self.rnea(q, v, big(np.zeros(self.nv))))

    def regressor(self, q, v, vdot):
        """d rnea / d (mass, mass * centre, xx yy zz xy xz yz about the origin) of each body."""
        none = [big(np.zeros(10)) for _ in self.bodies]
        columns = []
        for body in range(len(self.bodies)):
            for unit in big(np.eye(10)):
                one = list(none)
                one[body] = unit
                columns.append(self.rnea(q, v, vdot, one, armature=False))
        return np.array(columns, dtype=object).reshape(-1, self.nv).T

    def jacobian(self, q, body):
        """Linear (of the origin) and angular, in the world."""
        zero = big(np.zeros(self.nv))
        places = [self.kinematics(q, e, zero)[body] for e in big(np.eye(self.nv))]
        return np.array([p[3] for p in places], dtype=object).T, np.array([p[2] for p in places], dtype=object).T

    def energies(self, q, v):
        """Kinetic with armature; potential, 0 where the bodies that move have their centre of mass at the world's origin."""
        kinetic = v.dot(self.mass_matrix(q).dot(v)) / 2
        mass, moment = self.mass_and_moment(q)
        return kinetic, -self.gravity.dot(moment)

    def mass_and_moment(self, q):
        zero = big(np.zeros(self.nv))
        mass, moment = big([0])[0], big(np.zeros(3))
        for body, place, phi in zip(self.bodies, self.kinematics(q, zero, zero), self.inertial):
            if body["moves"]:
                mass, moment = mass + phi[0], moment + phi[0] * place[1] + place[0].dot(phi[1:4])
        return mass, moment

    def center_of_mass(self, q):
        mass, moment = self.mass_and_moment(q)
        return moment / mass

    def derivative(self, function, at=None):
        """Central differences of a function of a tangent vector."""
        columns = []
        for e in big(np.eye(self.nv)):
            columns.append((function(STEP * e) - function(-STEP * e)) / (2 * STEP))
        return np.array(columns, dtype=object).T


def symmetric(s):
    return np.array([[s[0], s[3], s[4]], [s[3], s[1], s[5]], [s[4], s[5], s[2]]], dtype=object)


def inertial_parameters(body):
    mass, c, i = big([body["mass"]])[0], big(body["center_of_mass"]), big(body["inertia"])
    cc = np.outer(c, c)
    about = symmetric(i) + mass * (c.dot(c) * big(np.eye(3)) - cc)
    return np.array([mass, *(mass * c), about[0, 0], about[1, 1], about[2, 2], about[0, 1], about[0, 2], about[1, 2]], dtype=object)


def solve(matrix, right):
    """Gauss with pivots."""
    a, b = matrix.copy(), right.copy()
    n = len(a)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i, k]))
        a[[k, p]], b[[k, p]] = a[[p, k]], b[[p, k]]
        for i in range(k + 1, n):
            if a[i, k] != 0:
                f = a[i, k] / a[k, k]
                a[i, k:] = a[i, k:] - f * a[k, k:]
                b[i] = b[i] - f * b[k]
    for k in reversed(range(n)):
        b[k] = (b[k] - sum((a[k, i] * b[i] for i in range(k + 1, n)), 0 * b[k])) / a[k, k]
    return b
