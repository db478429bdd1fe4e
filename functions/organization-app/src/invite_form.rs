use pages::labels::role_label;
use shared::domain::organization::Role;
use shared::web::Form;
use shared::wire::fields::FieldErrors;

pub(crate) struct InviteForm {
    pub email: String,
    pub roles: Vec<RoleOption>,
    pub email_error: Option<String>,
    pub role_error: Option<String>,
    pub password_error: Option<&'static str>,
}

impl InviteForm {
    fn new(email: &str, role: &str) -> Self {
        Self {
            email: email.to_owned(),
            roles: role_options(role),
            email_error: None,
            role_error: None,
            password_error: None,
        }
    }

    pub fn empty() -> Self {
        Self::new("", Role::Member.as_str())
    }

    pub fn refused(form: &Form, errors: FieldErrors) -> Self {
        let mut invite = Self::submitted(form);
        for error in errors.into_list() {
            let field = if error.field == "email" { &mut invite.email_error } else { &mut invite.role_error };
            *field = Some(error.message);
        }
        invite
    }

    pub fn submitted(form: &Form) -> Self {
        Self::new(form.get("email"), form.get("role"))
    }

    pub fn has_errors(&self) -> bool {
        self.email_error.is_some() || self.role_error.is_some() || self.password_error.is_some()
    }
}

pub(crate) struct RoleOption {
    pub value: &'static str,
    pub text: &'static str,
    pub is_selected: bool,
}

pub(crate) fn role_options(selected: &str) -> Vec<RoleOption> {
    let option = |role: Role| RoleOption {
        value: role.as_str(),
        text: role_label(role),
        is_selected: role.as_str() == selected,
    };
    // The role with fewer rights comes first.
    [Role::Member, Role::Admin].map(option).into()
}
