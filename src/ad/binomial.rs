//! The binomial checkpointing schedule, with which a chain of steps is reversed by the least number of
//! repeated steps: `Griewank00`.

/// beta(c, r) = (c + r)! / (c! r!): the longest chain that `c` checkpoints reverse with no step taken
/// more than `r` times. Saturates.
fn beta(c: usize, r: usize) -> usize {
    let (mut product, few) = (1_u128, c.min(r) as u128);
    let many = c.max(r) as u128;
    for k in 1..=few {
        // Exact: a binomial coefficient at every k.
        product = product.saturating_mul(many + k) / k;
        if product > usize::MAX as u128 {
            return usize::MAX;
        }
    }
    product as usize
}

/// The least r with `steps` <= beta(`checkpoints`, r).
fn repetitions(steps: usize, checkpoints: usize) -> usize {
    let mut r = 0;
    while beta(checkpoints, r) < steps {
        r += 1;
    }
    r
}

/// The least number of steps taken forward, beside those that are differentiated, to reverse a chain
/// of `steps` with `checkpoints`, the one of its start included (`Griewank00`, equation 3). Saturates; none
/// without checkpoints.
pub fn least_advances(steps: usize, checkpoints: usize) -> Option<usize> {
    match (steps, checkpoints) {
        (0 | 1, _) => Some(0),
        (_, 0) => None,
        // r would grow with the chain.
        (_, 1) => Some(steps.saturating_mul(steps - 1) / 2),
        _ => {
            let r = repetitions(steps, checkpoints);
            Some(r.saturating_mul(steps).saturating_sub(beta(checkpoints + 1, r - 1)))
        }
    }
}

/// How far to advance from the last checkpoint before the next one is set, for a rest of `steps` >= 2
/// and `checkpoints` >= 2 left, the last one included.
pub(super) fn advance(steps: usize, checkpoints: usize) -> usize {
    let r = repetitions(steps, checkpoints);
    // Both parts must be reversible with one repetition less, or one checkpoint less: any length
    // between beta(c, r - 2) and beta(c, r - 1) that leaves beta(c - 1, r - 1) to beta(c - 1, r).
    let most = beta(checkpoints, r - 1).min(steps - beta(checkpoints - 1, r - 1).min(steps - 1));
    most.clamp(1, steps - 1)
}
