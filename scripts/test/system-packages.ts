import { existsSync } from 'node:fs'
import { findBinary, findMariadb, findPostgresBin, findTestBrowser } from '../../tests/support/find-binary.ts'
import { run } from '../project.ts'

/** Something the tests need from outside node_modules. */
interface SystemPackage {
  /** Alternative Debian package names, best first; not every release has all of them. */
  names: readonly [string, ...string[]]
  isThere(): boolean
  /** False where its absence changes only how a screenshot looks. */
  isRequired: boolean
}

const PACKAGES: SystemPackage[] = [
  {
    names: ['postgresql'],
    isThere: () => Boolean(process.env.TEST_POSTGRES_URL) || findPostgresBin() !== null,
    isRequired: true,
  },
  {
    names: ['mariadb-server'],
    isThere: () => Boolean(process.env.TEST_MARIADB_URL) || findMariadb() !== null,
    isRequired: true,
  },
  {
    names: ['chromium-headless-shell', 'chromium'],
    isThere: () => findTestBrowser() !== null,
    isRequired: true,
  },
  {
    names: ['fonts-noto-core'],
    isThere: () => existsSync('/usr/share/fonts/truetype/noto'),
    isRequired: false,
  },
]

/** Permissions for installing packages on this machine. */
export interface Rights {
  hasApt: boolean
  isRoot: boolean
  hasPasswordlessSudo: boolean
}

/** How `apt-get` is called where it may change the system, without its verb; null where it may not. */
export function aptGet(rights: Rights): string[] | null {
  if (!rights.hasApt || !(rights.isRoot || rights.hasPasswordlessSudo)) return null
  const sudo = rights.isRoot ? [] : ['sudo', '-n']
  const patiently = ['-o', 'DPkg::Lock::Timeout=300'] // Another apt may be at work.
  return [...sudo, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...patiently]
}

/**
 * Installs what the tests need and the machine lacks: databases, browser, fonts.
 * @throws Error naming what is missing when it cannot be installed
 */
export async function ensureSystemPackages(): Promise<void> {
  const missing = PACKAGES.filter((wanted) => !wanted.isThere())
  if (missing.length === 0) return
  console.log(`Missing: ${missing.map(({ names }) => names[0]).join(', ')}`)
  const apt = aptGet({
    hasApt: findBinary('apt-get') !== null,
    isRoot: process.getuid?.() === 0,
    hasPasswordlessSudo: hasPasswordlessSudo(),
  })
  // Packages still missing after this are reported below.
  if (apt !== null && (await run([...apt, 'update'])) === 0) {
    await run([...apt, 'install', '-y', '--no-install-recommends', ...missing.map(nameInRelease)])
  }
  const required = missing.filter((wanted) => wanted.isRequired && !wanted.isThere()).map(nameInRelease)
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
