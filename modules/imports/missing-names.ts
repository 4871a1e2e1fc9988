import type { Actor } from '../../src/core/actor.ts'
import { notFound } from '../../src/core/errors.ts'
import { readNameList } from '../../src/core/fields/list-value.ts'
import type { ColumnValue } from '../../src/db/column-values.ts'
import { readNames, recordsNamed } from '../../src/db/names-of-records.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaReader } from '../schema/index.ts'
import type { MissingNamesInput } from './input.ts'
import { requireOwnTable, toImportLink } from './link-column.ts'

interface Deps {
  kernel: Pick<Kernel, 'sources'>
  auth: Pick<AuthService, 'access'>
  schema: Pick<SchemaReader, 'load'>
  records: Pick<RecordsService, 'people' | 'openLink'>
}

/**
 * Tells ahead of an import which cells of a link's column name a record that is not there, or several where one is
 * taken: by their places in the list.
 */
export function createMissingNames({ kernel, auth, schema, records }: Deps) {
  /** @throws TABLE_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED below editor; BAD_REQUEST for what is no link */
  return async function missingNames(
    actor: Actor,
    { baseId, tableId, fieldId, texts }: MissingNamesInput,
  ): Promise<{ missing: number[] }> {
    await auth.access.authorize(actor, 'import.append', baseId)
    const model = await schema.load(tableId)
    if (model.table.baseId !== baseId) throw notFound('Table', tableId)
    requireOwnTable(model)
    const open = await records.openLink(model, fieldId)
    const { kind, related } = toImportLink(open, await records.people(actor, baseId))
    const engine = await kernel.sources.engine(baseId)
    const names = texts.flatMap((text) => [text, ...readNameList(text)])
    const known = await recordsNamed(engine, related, names, (statement) =>
      engine.all<ColumnValue>(statement, { scan: true }),
    )
    const missing = texts.flatMap((text, at) => {
      const named = readNames(text, { kind }, known)
      return named.missing.length > 0 ? [at] : []
    })
    return { missing }
  }
}
