//! Variables that a step gives to a command: data may be the value of one, but not of those that programs obey.

use super::source::{is_like, name as reference_of};
use super::{Refusal, RefusalKind};
use cuecard_source::value::Text;

/// The value of the environment variable `name`.
pub(super) fn value(name: &str, value: &Text) -> Result<String, Refusal> {
    let refuse = |message: String, help: &str| Err(Refusal::new(RefusalKind::Data, message, help));
    if let Some(piece) = value.untrusted()
        && is_obeyed(name)
    {
        return refuse(
            format!(
                "programs obey the variable `{name}`, so {} may not be its value",
                reference_of(piece)
            ),
            "choose a name of your own, such as `VALUE`",
        );
    }
    let text = value.to_string();
    if text.contains('\0') {
        return refuse(
            format!("the value of the variable `{name}` contains a NUL byte"),
            "variables can't contain NUL bytes: write the value to a file",
        );
    }
    Ok(text)
}

/// Whether shells, linkers, interpreters, tools or libraries take orders from a variable of this name.
pub(super) fn is_obeyed(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // Values of Terraform's variables.
    is_like(NAMES, &name) && !name.starts_with("tf_var_")
}

/// In lower case; `*` stands for any beginning or end.
const NAMES: &[&str] = &[
    // Shells, and where programs are found.
    "path bash* env ifs shellopts ps0 ps1 ps2 ps3 ps4 prompt_command cdpath execignore globignore posixly_correct fpath \
     zdotdir zsh* ksh* hist* hostfile inputrc fcedit mailpath pwd oldpwd shell home cuecard_* sandy_*",
    // What shells set by themselves, whatever it was.
    "random srandom seconds lineno ppid optind optarg opterr shlvl epochseconds epochrealtime funcname dirstack groups uid euid \
     pipestatus reply columns lines comp_* coproc mapfile _",
    // The dynamic linker and the C library.
    "ld_* dyld_* glibc_tunables malloc_* gconv_path getconf_dir locpath nlspath hostaliases localdomain res_options lang \
     language lc_* tz tzdir tmpdir temp tmp term terminfo* termcap xdg_* dbus_* display wayland_display",
    // What is started to edit, to page, to browse, to connect or to ask for a password.
    "editor visual *_editor pager *_pager manpager browser *_browser *_askpass *_rsh *_shell less less_* lessopen lessclose lesskey* lesscharset lesssecure more most manopt manpath \
     infopath exinit viminit vim vimruntime nvim* emacs*",
    // Interpreters and their package managers.
    "node_options node_path node_env node_extra_ca_certs node_debug* node_repl* node_v8* node_redirect* node_tls* npm_* yarn_* pnpm_* bun_* deno_* nvm_* python* pip_* pipx_* pipenv_* poetry_* uv_* conda_* virtual_env ipython* \
     jupyter* perl* ruby* gem_* bundle_* rails_* rack_* php* lua_* r_home r_libs* r_profile* r_environ* tcl* guile_* java_* jdk_* _java_options classpath \
     maven_* gradle_* sbt_* jvm_* dotnet_* nuget_* coreclr_* cor_* goflags goproxy gopath goroot goenv gobin \
     gotoolchain gocache gonosumdb gosumdb goprivate cgo_* awkpath awklibpath julia_* erl_* elixir_* mix_* ghc* stack_root stack_yaml \
     cabal_* opam* nix_*",
    // Compilers and build tools.
    "cc cxx cpp fc ar as ld nm cflags cxxflags cppflags ldflags ldlibs fflags makeflags makefiles mflags gnumakeflags \
     cmake_* pkg_config* cargo_* rust* compiler_path library_path cpath *_include_path gcc_* ccache_* distcc_* \
     texinputs bc_env_args m4path",
    // Options by environment.
    "*_options *_opts *_opt *_defaults *_bin *_base_url *_config_dir *_home cargo fish_* composer tmout funcnest gzip bzip bzip2 zipopt unzip unzipopt block_size time_style",
    // Version control, networks and keys.
    "git_* gh_* github_token github_env github_path github_output gitlab_host gitlab_token hg* svn_* cvs* ssh_* *_proxy ssl_* openssl_* curl_* wgetrc netrc requests_ca_bundle gnupghome \
     gpg_* sudo_* rsync_*",
    // Tests, desktops and what loads modules by a path.
    "pytest_* make m4 gtk_* qt_* gio_* gst_* gdk_* vk_* sasl_* pkcs11_* ripgrep_config_path fzf_* javacmd scons* chrome_* \
     puppeteer_* playwright_* electron_* terragrunt_* packer_* compose_* aclocal_* ant_* gemrc condarc gviminit p4* \
     config_site pylintrc screenrc ackrc just_* flask_* django_* mpl* coverage_* tox_* swift_* caml_* libgl_* gdal_* \
     magick_* krb5* texmf* shell_escape psmodulepath comspec pathext composer_* corepack_* jq_* rm yacc lex co get makeinfo tex texi2dvi \
     f77 pc lint m2c weave tangle sslkeylogfile direnv_* ocl_* gi_* ts_node_* aclocal autom4te qemu_* complus_* debuginfod_* \
     ocamlpath octave_path gs_lib pyenv_* rbenv_* asdf_* mise_* password_store_* sbcl_home cuda_path *_plugins *_plugin_path *_modules *_module_path *_addopts *_config_path *flags",
    // Containers, clouds and databases.
    "docker_* podman_* container_host containers_* kube* helm* tf_* terraform_* ansible_* vault_* aws_* azure_* google_cloud_* \
     google_application_credentials gcloud_* cloudsdk_* boto_* pg* psql* mysql_* redis* sqlite_* mongo*",
];

#[cfg(test)]
mod tests {
    use super::super::source::tests::text;
    use super::*;

    #[test]
    fn data_may_be_the_value_of_a_variable_that_no_program_obeys() {
        let data = text("{{a.x}}", &[("a.x", "$(rm -rf /); --help\n")]);
        for name in [
            "TITLE",
            "V",
            "FILE_PATH",
            "_x",
            "ISSUE_URL",
            "PATHS",
            "GOAL",
            "NODE_ID",
            "STACK_TRACE",
            "USER",
        ] {
            assert_eq!(
                value(name, &data).as_deref(),
                Ok("$(rm -rf /); --help\n"),
                "{name}"
            );
        }
        for name in [
            "PATH",
            "Path",
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "ENV",
            "IFS",
            "SHELLOPTS",
            "PS4",
            "PROMPT_COMMAND",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "PYTHONPATH",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "EDITOR",
            "MANPAGER",
            "GIT_PAGER",
            "HOME",
            "XDG_CONFIG_HOME",
            "CARGO_BUILD_RUSTC",
            "RUSTC_WRAPPER",
            "CFLAGS",
            "npm_config_script_shell",
            "PIP_INDEX_URL",
            "http_proxy",
            "HTTPS_PROXY",
            "SSH_ASKPASS",
            "DOCKER_HOST",
            "KUBECONFIG",
            "AWS_CONFIG_FILE",
            "CUECARD_ARG_1",
            "LESSOPEN",
        ] {
            let refusal = value(name, &data).expect_err(name);
            assert_eq!(refusal.kind, RefusalKind::Data);
            assert_eq!(
                refusal.message,
                format!(
                    "programs obey the variable `{name}`, so `{{{{a.x}}}}` may not be its value"
                )
            );
            assert!(value(name, &Text::from("set by the author")).is_ok());
        }
        let nul = text("a{{a.x}}", &[("a.x", "\0")]);
        let refusal = value("V", &nul).expect_err("no program can get it");
        assert_eq!(
            refusal.message,
            "the value of the variable `V` contains a NUL byte"
        );
        assert!(value("V", &Text::from("\0")).is_err());
    }
}
