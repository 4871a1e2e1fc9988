import type { QueryDialect } from './dialect.ts'
import { mysql } from './mysql.ts'
import { postgres } from './postgres.ts'
import { sqlite } from './sqlite.ts'

/** All supported dialects, for the test suites that run over each. The engines in `src/db` import theirs directly. */
export const DIALECTS = [sqlite, postgres, mysql] as const satisfies readonly QueryDialect[]
