import type { Actor } from '../../src/core/actor.ts'
import type { Diagram } from '../../src/core/diagram.ts'
import { AppError } from '../../src/core/errors.ts'
import { diagramOf, type SchemaReader } from '../schema/index.ts'

/** The diagram that a link leads to: the tables of one source, with their fields' names and types, and no more. */
export function createDiagrams(schema: Pick<SchemaReader, 'tablesOfSource' | 'load'>) {
  /** @throws FORBIDDEN for who has not come by a link to a diagram */
  return async function diagram(actor: Actor): Promise<Diagram> {
    if (actor.kind !== 'share' || actor.grant.kind !== 'erd') {
      throw new AppError('FORBIDDEN', 'Forbidden - This is for visitors of a shared diagram')
    }
    const tables = await schema.tablesOfSource(actor.baseId, actor.grant.sourceId)
    return diagramOf(await Promise.all(tables.map(({ id }) => schema.load(id))))
  }
}
