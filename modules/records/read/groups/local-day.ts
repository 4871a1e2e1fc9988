import { type SQL, sql } from 'drizzle-orm'
import { resolveZone } from '../../../../src/core/dates.ts'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import { createBuild } from '../../../../src/core/formula/build.ts'
import { compileToWall } from '../../../../src/core/formula/instants.ts'
import type { ReadContext } from '../expression/scope.ts'

/**
 * The day, as text, on which clocks show an instant: those of the field's own zone, or where it has none those
 * of the person who asks. Offsets come from the table that formulas use, as not every engine knows zones.
 */
export function localDay({ dialect, moment }: ReadContext, instant: SQL, { timeZone }: FieldOptions): SQL {
  const own = typeof timeZone === 'string' && timeZone !== 'local' ? timeZone : moment.timeZone
  const { formula } = dialect
  const build = createBuild(formula, {
    now: moment.now.getTime(),
    zone: resolveZone(own ?? 'UTC'),
    recordId: sql`''`,
    prefix: 'day_',
  })
  const ms = formula.cell(instant, 'datetime', build.freshName())
  return formula.dateText(compileToWall({ sql: ms, type: 'datetime', isSimple: false }, build), false)
}
