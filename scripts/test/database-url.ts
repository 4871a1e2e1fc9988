const OPTION = '--database-url'

/** Variables that name a server to test against, by the scheme of its URL. */
const VARIABLES: Record<string, string> = {
  'postgres:': 'TEST_POSTGRES_URL',
  'postgresql:': 'TEST_POSTGRES_URL',
  'mysql:': 'TEST_MARIADB_URL',
  'mariadb:': 'TEST_MARIADB_URL',
}

/**
 * Takes `--database-url URL` or `--database-url=URL` out of the arguments; null without one.
 *
 * @throws Error if the URL is missing or given twice
 */
export function takeDatabaseUrl(given: readonly string[]): { databaseUrl: string | null; rest: string[] } {
  const isOption = (argument: string) => argument === OPTION || argument.startsWith(`${OPTION}=`)
  const at = given.findIndex(isOption)
  if (at < 0) return { databaseUrl: null, rest: [...given] }
  const isSeparate = given[at] === OPTION
  const databaseUrl = isSeparate ? given[at + 1] : given[at]?.slice(OPTION.length + 1)
  if (!databaseUrl) throw new Error(`${OPTION} needs a URL, such as postgres://user:password@host:5432/name`)
  const rest = given.toSpliced(at, isSeparate ? 2 : 1)
  if (rest.some(isOption)) throw new Error(`${OPTION} may be given once`)
  return { databaseUrl, rest }
}

/**
 * Sets the variable that names the server to the tests.
 *
 * @throws Error for a URL of another kind of server
 */
export function nameServer(databaseUrl: string, env: Record<string, string | undefined>): void {
  const variable = URL.canParse(databaseUrl) ? VARIABLES[new URL(databaseUrl).protocol] : undefined
  if (variable === undefined)
    throw new Error(`${OPTION} takes a postgres:// or mysql:// URL, not “${databaseUrl}”`)
  env[variable] = databaseUrl
}
