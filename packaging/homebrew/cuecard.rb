# The formula of a release: `packaging/build` writes the version and the checksum of the archive that it made. The
# others come from the builds of the other platforms, and so does the address, from where the archives are put.
class Cuecard < Formula
  desc "Makes the behavior of AI agents repeatable: replay, mocks, recording and checks"
  homepage "{HOMEPAGE}"
  version "{VERSION}"
  license any_of: ["Apache-2.0", "MIT"]

  on_macos do
    on_arm do
      url "{HOMEPAGE}/releases/download/v{VERSION}/cuecard-{VERSION}-aarch64-macos.tar.gz"
      sha256 "{SHA256_aarch64-macos}"
    end
    on_intel do
      url "{HOMEPAGE}/releases/download/v{VERSION}/cuecard-{VERSION}-x86_64-macos.tar.gz"
      sha256 "{SHA256_x86_64-macos}"
    end
  end

  on_linux do
    on_arm do
      url "{HOMEPAGE}/releases/download/v{VERSION}/cuecard-{VERSION}-aarch64-linux.tar.gz"
      sha256 "{SHA256_aarch64-linux}"
    end
    on_intel do
      url "{HOMEPAGE}/releases/download/v{VERSION}/cuecard-{VERSION}-x86_64-linux.tar.gz"
      sha256 "{SHA256_x86_64-linux}"
    end
  end

  def install
    bin.install "cuecard"
    generate_completions_from_executable(bin/"cuecard", "completions")
    (man1/"cuecard.1").write Utils.safe_popen_read(bin/"cuecard", "man")
  end

  test do
    assert_match "Tea", shell_output("#{bin}/cuecard call demo add_note --arg title=Tea --arg text=Green")
  end
end
