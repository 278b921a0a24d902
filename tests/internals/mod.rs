//! Parts of the library that its interface does not show, and those of its linear algebra.

mod beta;
mod block_lu;
mod faces;
mod front_qr;
mod interior_point;
mod least_norm;
mod pivoted_cholesky;
mod power_iteration;
mod second_order_cone;
mod sum;
