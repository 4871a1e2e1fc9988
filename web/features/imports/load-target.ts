import type { DraftTarget } from '../../../src/core/imports/draft.ts'
import { api } from '../../trpc.ts'

/** An existing table as the target of an import. @throws the server's error, also if its database does not answer */
export async function loadTarget(tableId: string): Promise<Extract<DraftTarget, { kind: 'append' }>> {
  const [{ table, fields }, facts] = await Promise.all([
    api.schema.table.query({ tableId }),
    api.imports.target.query({ tableId }),
  ])
  return { kind: 'append', tableId, title: table.title, fields, ...facts }
}
