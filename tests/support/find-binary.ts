import { existsSync, readdirSync } from 'node:fs'

// Debian's folders for servers, which are not on the PATH of ordinary users.
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/sbin']
const POSTGRES_VERSIONS = '/usr/lib/postgresql'

/** The full path of the first of `names` that is installed, or null. */
export function findBinary(...names: string[]): string | null {
  const path = [process.env.PATH ?? '', ...SYSTEM_FOLDERS].join(':')
  for (const name of names) {
    const found = Bun.which(name, { PATH: path })
    if (found !== null) return found
  }
  return null
}

/** The folder with `initdb` and `postgres` of the newest PostgreSQL, e.g. `/usr/lib/postgresql/15/bin`, or null. */
export function findPostgresBin(): string | null {
  const versions = existsSync(POSTGRES_VERSIONS) ? readdirSync(POSTGRES_VERSIONS) : []
  versions.sort((a, b) => Number(b) - Number(a))
  for (const version of versions) {
    const bin = `${POSTGRES_VERSIONS}/${version}/bin`
    if (existsSync(`${bin}/initdb`) && existsSync(`${bin}/postgres`)) return bin
  }
  // On other systems they are on the PATH.
  const initdb = findBinary('initdb')
  return initdb && findBinary('postgres') ? initdb.slice(0, -'/initdb'.length) : null
}

/** Paths of MariaDB's two programs; null if one is missing. */
export function findMariadb(): { server: string; installer: string } | null {
  const server = findBinary('mariadbd')
  const installer = findBinary('mariadb-install-db')
  return server && installer ? { server, installer } : null
}

/** A regular Chromium: `CHROMIUM_PATH` if set, otherwise the system's, or null. */
export function findChromium(): string | null {
  return findBrowser('chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome')
}

/**
 * The browser for end-to-end tests: `CHROMIUM_PATH` if set, otherwise Chromium's headless shell, which
 * renders like Chromium but starts faster; without it Chromium itself, or null.
 */
export function findTestBrowser(): string | null {
  return findBrowser('chromium-headless-shell') ?? findChromium()
}

function findBrowser(...names: string[]): string | null {
  const chosen = process.env.CHROMIUM_PATH
  if (chosen) return existsSync(chosen) ? chosen : null
  return findBinary(...names)
}
