//! Steps by sequential quadratic programs, to compare with: `Geilinger20` 4.1.
//!
//! In each iteration the momentum is linear, and the program holds contacts apart, and along the tangents where they are those that stuck or
//! touched in the last one (15), however much friction that takes; friction of what slides is a force that is given, of the last
//! normal impulse, along where it was too much when it stuck. So first all contacts stick; once that is nearly solved, friction beyond
//! Coulomb's limit slides. Its direction stays, as that paper has it: friction need not oppose the slip exactly, and
//! magnitudes come by iterations alone. What friction would drag along sticks again; what turns too often slides, against how it goes, and
//! where friction drags it even so the step is not solved.

use super::condensed_body::CondensedBody;
use super::condensed_contact::Posed;
use super::contact_step::ContactStep;
use super::convergence::Convergence;
use super::momentum::Momentum;
use super::newton::NewtonSettings;
use super::vertex_contact::VertexContact;
use crate::ad::Real;
use crate::argmin::{ContactSolution, ContactWorkspace, Law, Mode, Status};
use crate::linalg::{dot, norm, solve_lower, solve_lower_transpose};

/// Relative residual of the programs.
const TOLERANCE: f64 = 1e-13;
/// What is left of the momentum where friction is looked at.
const NEAR: f64 = 1e-5;
/// Iterations after which it is in any case.
const STUCK: usize = 8;
/// Turns between sticking and sliding of one contact, after which it slides; and after which it keeps its direction.
const MOST_TURNS: usize = 3;
const LAST_TURNS: usize = 6;

/// The solver, with its memory. Reused with the same elements and vertices, it decides no order twice.
#[derive(Debug, Default)]
pub(super) struct SequentialQuadratic {
    /// When it ends.
    pub settings: NewtonSettings,
    body: CondensedBody,
    posed: Posed,
    /// Of each contact.
    friction: Vec<Friction>,
    solution: ContactSolution,
    workspace: ContactWorkspace<f64>,
}

/// What friction of a contact is.
#[derive(Clone, Copy, Debug, Default)]
struct Friction {
    /// Whether it touched, and did the time before.
    touches: bool,
    held: bool,
    /// The direction of that of what slides, along the tangents.
    slides: Option<[f64; 2]>,
    /// The coefficient, and the normal impulse that it goes by (N s).
    coefficient: f64,
    pressed: f64,
    turns: usize,
}

impl Friction {
    /// Whether it is held along its tangents.
    fn sticks(&self) -> bool {
        self.touches && self.slides.is_none() && self.turns < MOST_TURNS
    }
}

/// Poses the program of contacts with a mass factor and velocities without them (m/s): of each the normal, and of what sticks both tangents.
fn pose(
    posed: &mut Posed,
    (friction, active): (&[Friction], &[usize]),
    (mass_factor, free): (&[f64], &[f64]),
) {
    let Posed { demands, node, inputs, outputs, .. } = posed;
    node.clear();
    node.tolerance = TOLERANCE;
    let (tree, n) = (node.rows.add_tree(free.len()), free.len());
    let rows = |k: usize| if friction[k].sticks() { 3 } else { 1 };
    let all = || {
        let both = demands.iter().zip(active);
        both.flat_map(|(demand, &k)| (0..rows(k)).map(move |row| (demand, row)))
    };
    inputs.clear();
    for (demand, row) in all() {
        node.add(if row == 0 { Law::of_normal() } else { Law::of_tie() }, [tree, tree]);
        let start = inputs.len();
        inputs.resize(start + n, 0.0);
        inputs[start + 3 * demand.place..][..3].copy_from_slice(&demand.frame[row]);
    }
    inputs.extend_from_slice(mass_factor);
    inputs.extend_from_slice(free);
    inputs.extend(
        all().map(|(demand, row)| if row == 0 { demand.target } else { demand.drift[row] }),
    );
    // Neither limits nor compliances.
    inputs.resize(inputs.len() + 2 * node.rows.blocks().len(), 0.0);
    outputs.clear();
    outputs.resize(node.output_len(), 0.0);
}

impl SequentialQuadratic {
    /// As [`CondensedContact::solve`](super::CondensedContact::solve).
    pub fn solve(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
    ) {
        if !step.begin_alone(momentum, contacts) {
            return;
        }
        self.friction.clear();
        let of = |contact: &VertexContact| Friction {
            coefficient: contact.friction,
            ..Friction::default()
        };
        self.friction.extend(contacts.iter().map(of));
        for (friction, impulse) in self.friction.iter_mut().zip(&step.impulses) {
            friction.touches = impulse[0] > 0.0;
        }
        let mut search = Convergence::new(self.settings);
        let mut near = false;
        let status = loop {
            if !search.next() {
                break Status::IterationLimit;
            }
            let Some(whole) = self.advance(momentum, contacts, step) else {
                break Status::Stalled;
            };
            let added = step.add_passing(contacts);
            step.report.residual = self.body.measure(momentum, contacts, step);
            near |= step.report.residual <= NEAR || search.iterations >= STUCK;
            let unlawful = if near { self.slide(step) } else { f64::INFINITY };
            // While contacts turn the residual says nothing.
            let lawful = whole && !added && unlawful.is_finite();
            if lawful {
                step.report.residual = step.report.residual.max(unlawful);
            }
            if let Some(status) = search.ended(lawful, step.report.residual) {
                break status;
            }
        };
        for (mode, friction) in
            step.solution.modes.iter_mut().zip(step.active.iter().map(|&k| self.friction[k]))
        {
            if friction.slides.is_some() && *mode != Mode::Break {
                *mode = Mode::Slide;
            }
        }
        step.finish(status, &search);
    }

    /// One iteration: whether its step was taken whole; nothing if there is none.
    fn advance(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
    ) -> Option<bool> {
        let Self { body, posed, friction, solution, workspace, .. } = self;
        if !body.condense(momentum, contacts, step, false) {
            return None;
        }
        posed.ask(momentum, contacts, step, body.condensation.kept());
        for (demand, &k) in posed.demands.iter().zip(&step.active) {
            let Friction { slides: Some(direction), coefficient, pressed, .. } = friction[k] else {
                continue;
            };
            for (along, axis) in direction.iter().zip(&demand.frame[1..]) {
                let own = &mut body.left[3 * demand.place..][..3];
                let strength = coefficient * pressed * along;
                own.iter_mut().zip(axis).for_each(|(p, axis)| *p += strength * axis);
            }
        }
        // v_p = u - S^-1 (R - friction of what slides)
        let (l, n) = (&body.condensation.mass_factor, body.left.len());
        body.free.clone_from(&body.left);
        solve_lower(l, n, &mut body.free);
        solve_lower_transpose(l, n, &mut body.free);
        body.free.iter_mut().zip(&body.start).for_each(|(free, u)| *free += u);
        pose(posed, (friction, &step.active), (l, &body.free));
        solution.impulses.clear();
        for &k in &step.active {
            let rows = if friction[k].sticks() { 3 } else { 1 };
            solution.impulses.extend_from_slice(&step.impulses[k][..rows]);
        }
        f64::call(&posed.node, &posed.inputs, &mut posed.outputs, solution, workspace);
        step.contact = solution.report;
        step.solution.modes.clear();
        step.solution.impulses.clear();
        let mut found = solution.impulses.iter().copied();
        let mut modes = solution.modes.iter().copied();
        for &k in &step.active {
            let own = &mut friction[k];
            let mut impulse = [found.next().unwrap_or_default(), 0.0, 0.0];
            step.solution.modes.push(modes.next().unwrap_or_default());
            if own.sticks() {
                impulse[1..].fill_with(|| found.next().unwrap_or_default());
                modes.nth(1);
            }
            if let Some(direction) = own.slides {
                impulse[1..].clone_from_slice(
                    &direction.map(|along| own.coefficient * own.pressed * along),
                );
            }
            own.held = own.touches;
            own.touches = impulse[0] > 0.0;
            step.solution.impulses.extend(impulse);
        }
        step.take_impulses();
        body.moved.clear();
        body.moved.extend(posed.outputs.iter().zip(&body.start).map(|(v, u)| v - *u));
        body.follow(momentum, step)
    }

    /// Lets contacts slide whose friction is more than Coulomb's limit, and stick whose friction would drag them: how far from the limit
    /// friction is, as a part of the largest impulse; infinite if a contact does something else now.
    fn slide(&mut self, step: &ContactStep) -> f64 {
        let Self { posed, friction, .. } = self;
        let velocity = &posed.outputs;
        let largest =
            step.impulses.iter().flatten().fold(f64::MIN_POSITIVE, |most, p| most.max(p.abs()));
        let (mut off, mut turned) = (0.0_f64, false);
        for (demand, &k) in posed.demands.iter().zip(&step.active) {
            let own = &mut friction[k];
            let [normal, first, second] = step.impulses[k];
            let mu = own.coefficient;
            let v = &velocity[3 * demand.place..][..3];
            let slip = [1, 2].map(|row| dot(&demand.frame[row], v) - demand.drift[row]);
            match own.slides {
                Some(direction) => {
                    off = off.max(mu * (own.pressed - normal).abs() / largest);
                    own.pressed = normal;
                    let drags = slip[0] * direction[0] + slip[1] * direction[1] > 0.0;
                    if (normal <= 0.0 || drags) && own.turns < MOST_TURNS {
                        (own.slides, own.turns, turned) = (None, own.turns + 1, true);
                    } else if drags && normal > 0.0 && own.turns < LAST_TURNS {
                        (own.slides, own.turns, turned) = (against(slip), own.turns + 1, true);
                    } else if drags && normal > 0.0 {
                        off = f64::MAX;
                    }
                }
                None if own.touches && own.turns >= MOST_TURNS => {
                    // What neither sticks nor stays apart slides as it goes.
                    (own.slides, own.pressed, turned) = (against(slip), normal, true);
                }
                None if own.touches != own.held => {
                    own.turns += usize::from(own.held);
                    turned = true;
                }
                None => {
                    let size = norm(&[first, second]);
                    if size > mu * normal * (1.0 + 1e-12) {
                        own.slides = Some([first / size, second / size]);
                        (own.pressed, turned) = (normal, true);
                    }
                }
            }
        }
        if turned { f64::INFINITY } else { off }
    }
}

/// The direction against a slip.
fn against(slip: [f64; 2]) -> Option<[f64; 2]> {
    let size = norm(&slip).max(f64::MIN_POSITIVE);
    Some(slip.map(|slip| -slip / size))
}
