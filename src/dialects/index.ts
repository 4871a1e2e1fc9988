import type { QueryDialect } from './dialect.ts'
import { mysql } from './mysql.ts'
import { postgres } from './postgres.ts'
import { sqlite } from './sqlite.ts'

/** Every engine that can be asked. */
export const DIALECTS = [sqlite, postgres, mysql] as const satisfies readonly QueryDialect[]
