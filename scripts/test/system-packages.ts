import { existsSync } from 'node:fs'
import { findBinary, findMariadb, findPostgresBin, findTestBrowser } from '../../tests/support/find-binary.ts'
import { run } from '../project.ts'

/** A system package that the tests need. */
interface SystemPackage {
  /** Alternative Debian package names, best first; not every release has all of them. */
  names: readonly [string, ...string[]]
  isInstalled(): boolean
  /** False if its absence only skips some tests or changes screenshots. */
  isRequired: boolean
}

const PACKAGES: SystemPackage[] = [
  {
    names: ['postgresql'],
    isInstalled: () => Boolean(process.env.TEST_POSTGRES_URL) || findPostgresBin() !== null,
    isRequired: true,
  },
  {
    names: ['mariadb-server'],
    isInstalled: () => Boolean(process.env.TEST_MARIADB_URL) || findMariadb() !== null,
    isRequired: true,
  },
  {
    names: ['chromium-headless-shell', 'chromium'],
    isInstalled: () => findTestBrowser() !== null,
    isRequired: true,
  },
  {
    names: ['fonts-noto-core'],
    isInstalled: () => existsSync('/usr/share/fonts/truetype/noto'),
    isRequired: false,
  },
  {
    names: ['nginx-light', 'nginx'],
    isInstalled: () => findBinary('nginx') !== null,
    isRequired: false,
  },
  {
    names: ['caddy'],
    isInstalled: () => findBinary('caddy') !== null,
    isRequired: false,
  },
]

/** Permissions for installing packages on this machine. */
export interface Rights {
  hasApt: boolean
  isRoot: boolean
  hasPasswordlessSudo: boolean
}

/** The `apt-get` command without its verb; null without permission to install. */
export function aptGet(rights: Rights): string[] | null {
  if (!rights.hasApt || !(rights.isRoot || rights.hasPasswordlessSudo)) return null
  const sudo = rights.isRoot ? [] : ['sudo', '-n']
  const patiently = ['-o', 'DPkg::Lock::Timeout=300'] // Another apt may be at work.
  return [...sudo, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...patiently]
}

/**
 * Installs missing system packages for the tests: databases, browser, fonts, reverse proxies. Optional ones that
 * cannot be installed are named.
 * @throws Error naming missing packages that cannot be installed
 */
export async function ensureSystemPackages(): Promise<void> {
  const missing = PACKAGES.filter((systemPackage) => !systemPackage.isInstalled())
  if (missing.length === 0) return
  console.log(`Missing: ${missing.map(({ names }) => names[0]).join(', ')}`)
  const apt = aptGet({
    hasApt: findBinary('apt-get') !== null,
    isRoot: process.getuid?.() === 0,
    hasPasswordlessSudo: hasPasswordlessSudo(),
  })
  // Packages still missing after this are reported below.
  if (apt !== null && (await run([...apt, 'update'])) === 0) {
    // Optional ones one by one: one that this release lacks does not keep the others out.
    const optional = missing.filter(({ isRequired }) => !isRequired).map((one) => [one])
    for (const together of [missing.filter(({ isRequired }) => isRequired), ...optional]) {
      if (together.length === 0) continue
      await run([...apt, 'install', '-y', '--no-install-recommends', ...together.map(nameInRelease)])
    }
  }
  const stillMissing = missing.filter((systemPackage) => !systemPackage.isInstalled())
  const optional = stillMissing.filter(({ isRequired }) => !isRequired).map(nameInRelease)
  if (optional.length > 0) {
    console.warn(`Not installed: ${optional.join(', ')}. Tests that need them are skipped.`)
  }
  const required = stillMissing.filter(({ isRequired }) => isRequired).map(nameInRelease)
  if (required.length > 0) {
    const reason =
      apt === null ? 'without root or passwordless sudo they cannot be installed' : 'apt-get failed'
    throw new Error(
      `The tests need ${required.join(', ')}, and ${reason}.\n` +
        `Run: apt-get install -y --no-install-recommends ${required.join(' ')}`,
    )
  }
}

/** The first of a package's names that this release of Debian has. */
function nameInRelease({ names }: SystemPackage): string {
  const aptCache = findBinary('apt-cache')
  const isKnown = (name: string) =>
    aptCache !== null && Bun.spawnSync([aptCache, 'show', name], { stdin: 'ignore' }).exitCode === 0
  return names.find(isKnown) ?? names[0]
}

function hasPasswordlessSudo(): boolean {
  const sudo = findBinary('sudo')
  return sudo !== null && Bun.spawnSync([sudo, '-n', 'true'], { stdin: 'ignore' }).exitCode === 0
}
