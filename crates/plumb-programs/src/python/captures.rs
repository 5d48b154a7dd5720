//! Variables of loops in callbacks. A callback runs when the loop is over and would see its last element, so it takes the
//! variables that it uses as parameters with a default.

/// The variables of the loops around an expression, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Loops {
    variables: Vec<Variable>,
}

#[derive(Debug)]
struct Variable {
    name: String,
    /// Whether a callback between the loop and the expression takes the variable.
    is_taken: bool,
    is_used: bool,
}

impl Loops {
    /// Begins a loop; returns what ends it.
    pub(super) fn enter(&mut self, names: &[&str]) -> usize {
        let depth = self.variables.len();
        for name in names {
            self.variables.push(Variable {
                name: (*name).to_owned(),
                is_taken: false,
                is_used: false,
            });
        }
        depth
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.variables.truncate(depth);
    }

    /// Notes that a variable is used.
    pub(super) fn used(&mut self, name: &str) {
        let mut variables = self.variables.iter_mut().rev();
        if let Some(variable) = variables.find(|it| it.name == name) {
            variable.is_used = true;
        }
    }

    /// Begins a callback; returns the variables that it may take.
    pub(super) fn begin(&mut self) -> Vec<usize> {
        let variables = self.variables.iter_mut().enumerate();
        let free = variables.filter(|(_, it)| !it.is_taken);
        free.map(|(place, variable)| {
            variable.is_taken = true;
            variable.is_used = false;
            place
        })
        .collect()
    }

    /// Ends a callback: its parameters for the variables that it used.
    pub(super) fn end(&mut self, free: &[usize]) -> String {
        let mut parameters = String::new();
        for place in free {
            let variable = &mut self.variables[*place];
            variable.is_taken = false;
            if variable.is_used {
                let name = &variable.name;
                parameters = format!("{parameters}, {name}={name}");
            }
        }
        parameters
    }
}
