import { eq } from 'drizzle-orm'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { SchemaStore } from '../model/index.ts'
import { type Alteration, readGraph, resolveAll } from './graph.ts'

/** What follows for computed fields from a change of others. */
export interface Settled {
  /** Statements that write their `result` and `error`, to join the change's own. */
  statements: MetaStatement[]
  /** The tables whose fields are others now. */
  tableIds: string[]
}

/**
 * Works out anew what computed fields give, in all tables of a base, and says what has to be written
 * for it.
 *
 * @throws BAD_REQUEST for what does not fit in a checked field, such as `Circular reference detected`
 */
export async function settle(
  kernel: Pick<Kernel, 'meta'>,
  store: Pick<SchemaStore, 'fields' | 'tables' | 'clientsOf'>,
  baseId: string,
  altered: Alteration,
): Promise<Settled> {
  const graph = await readGraph(kernel, store, baseId, altered)
  const resolved = resolveAll(graph, new Set(altered.checked))
  const outdated = graph.computed.flatMap((field) => {
    const now = resolved.get(field.id)
    const { result, error } = field
    return now && !Bun.deepEquals({ result, error }, now) ? [{ field, now }] : []
  })
  return {
    statements: outdated.map(({ field, now }) =>
      kernel.meta.db.update(store.fields).set(now).where(eq(store.fields.id, field.id)),
    ),
    tableIds: [...new Set(outdated.map(({ field }) => field.tableId))],
  }
}
