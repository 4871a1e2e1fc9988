import type { QueryDialect } from './dialect.ts'
import { mysql } from './mysql.ts'
import { postgres } from './postgres.ts'
import { sqlite } from './sqlite.ts'

/** All supported engines. */
export const DIALECTS = [sqlite, postgres, mysql] as const satisfies readonly QueryDialect[]
