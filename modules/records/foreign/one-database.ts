import { AppError, badRequest } from '../../../src/core/errors.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { isForeign } from '../table/index.ts'

/**
 * The connected database that all the tables of a change lie in; null for tables of the base's own home.
 *
 * @throws FORBIDDEN saying why records may not be written; BAD_REQUEST for tables of several databases,
 *   which no transaction holds together
 */
export async function foreignEngineOf(
  schema: Pick<SchemaReader, 'load' | 'engineOf' | 'writeRefusal'>,
  tableIds: readonly string[],
): Promise<Engine | null> {
  const models = await Promise.all([...new Set(tableIds)].map((id) => schema.load(id)))
  if (!models.some(isForeign)) return null
  for (const model of models) {
    const refusal = await schema.writeRefusal(model)
    if (refusal) throw new AppError('FORBIDDEN', refusal)
  }
  const sources = new Set(models.map(({ table }) => table.sourceId))
  const [first] = models
  if (!first || sources.size > 1) throw badRequest('A change can only write to tables of one database')
  return schema.engineOf(first.table)
}
