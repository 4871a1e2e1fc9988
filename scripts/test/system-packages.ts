import { existsSync } from 'node:fs'
import { findBinary, findChromium, findMariadb, findPostgresBin } from '../../tests/support/find-binary.ts'
import { run } from '../project.ts'

/** Something the tests need from outside node_modules. */
interface SystemPackage {
  /** Its name in Debian. */
  name: string
  isThere(): boolean
  /** False where its absence changes only how a screenshot looks. */
  isRequired: boolean
}

const PACKAGES: SystemPackage[] = [
  {
    name: 'postgresql',
    isThere: () => Boolean(process.env.TEST_POSTGRES_URL) || findPostgresBin() !== null,
    isRequired: true,
  },
  {
    name: 'mariadb-server',
    isThere: () => Boolean(process.env.TEST_MARIADB_URL) || findMariadb() !== null,
    isRequired: true,
  },
  { name: 'chromium', isThere: () => findChromium() !== null, isRequired: true },
  { name: 'fonts-noto-core', isThere: () => existsSync('/usr/share/fonts/truetype/noto'), isRequired: false },
]

/** What this machine lets us do about missing packages. */
export interface Rights {
  hasApt: boolean
  isRoot: boolean
  hasPasswordlessSudo: boolean
}

/** The commands that install `names`, in order, or null when we may not. */
export function planInstall(names: readonly string[], rights: Rights): string[][] | null {
  if (!rights.hasApt || !(rights.isRoot || rights.hasPasswordlessSudo)) return null
  const asRoot = [
    ...(rights.isRoot ? [] : ['sudo', '-n']),
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
  ]
  const patiently = ['-o', 'DPkg::Lock::Timeout=300'] // Another apt may be at work.
  return [
    [...asRoot, ...patiently, 'update'],
    [...asRoot, ...patiently, 'install', '-y', '--no-install-recommends', ...names],
  ]
}

/**
 * Installs what the tests need and the machine lacks: databases, browser, fonts.
 * @throws Error naming what is missing when it cannot be installed
 */
export async function ensureSystemPackages(): Promise<void> {
  const missing = PACKAGES.filter((wanted) => !wanted.isThere())
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name)
  console.log(`Missing: ${names.join(', ')}`)
  const commands = planInstall(names, {
    hasApt: findBinary('apt-get') !== null,
    isRoot: process.getuid?.() === 0,
    hasPasswordlessSudo: hasPasswordlessSudo(),
  })
  for (const command of commands ?? []) {
    if ((await run(command)) !== 0) break // What is then still missing is told below.
  }
  const required = missing.filter((wanted) => wanted.isRequired && !wanted.isThere()).map(({ name }) => name)
  if (required.length > 0) {
    const reason =
      commands === null ? 'without root or passwordless sudo they cannot be installed' : 'apt-get failed'
    throw new Error(
      `The tests need ${required.join(', ')}, and ${reason}.\n` +
        `Run: apt-get install -y --no-install-recommends ${required.join(' ')}`,
    )
  }
}

function hasPasswordlessSudo(): boolean {
  const sudo = findBinary('sudo')
  return sudo !== null && Bun.spawnSync([sudo, '-n', 'true'], { stdin: 'ignore' }).exitCode === 0
}
