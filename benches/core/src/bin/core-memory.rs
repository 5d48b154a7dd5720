//! Measures the memory of the deployment core: bytes per resource beyond its property values, during and after a run.

#![allow(clippy::print_stdout)] // The table is the output.

use core_bench::{Answers, Shape, Stack, Task};
use peak_alloc::PeakAlloc;
use plumb_state::Snapshot;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const COUNT: usize = 10_000;

fn main() {
    println!(
        "{:<10} {:<14} {:>16} {:>16}",
        "shape", "task", "kept, bytes each", "peak, bytes each"
    );
    for shape in [Shape::Wide, Shape::Chain, Shape::Realistic] {
        let base = Task::Create
            .run(shape, COUNT, &Snapshot::default(), Answers::Late)
            .snapshot;
        let properties = weight_of(|| Stack::new(shape, COUNT, false).properties());
        for task in Task::ALL {
            let empty = Snapshot::default();
            let from = if task == Task::Create { &empty } else { &base };
            let before = ALLOCATOR.current_usage();
            ALLOCATOR.reset_peak_usage();
            let measured = task.run(shape, COUNT, from, Answers::Late);
            let peak = ALLOCATOR.peak_usage() - before;
            let kept = ALLOCATOR.current_usage() - before;
            let each = |bytes: usize| bytes.saturating_sub(properties) / COUNT;
            let (shape, task) = (shape.name(), task.name());
            println!(
                "{shape:<10} {task:<14} {:>16} {:>16}",
                each(kept),
                each(peak)
            );
            drop(measured);
        }
    }
}

fn weight_of<T>(make: impl FnOnce() -> T) -> usize {
    let before = ALLOCATOR.current_usage();
    let made = make();
    let weight = ALLOCATOR.current_usage() - before;
    drop(made);
    weight
}
