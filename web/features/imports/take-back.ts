import { useEffect, useState } from 'react'
import type { ImportResult } from '../../../src/core/csv/import-result.ts'
import { onChange } from '../../socket.ts'
import { api, cache, trpc } from '../../trpc.ts'
import type { ImportRun } from './runs.ts'

/**
 * Takes an import back: a new table goes to the trash, added rows are deleted.
 * @throws what the server refused with
 */
export async function takeBack({ baseId }: ImportRun, { isNewTable, tableId }: ImportResult): Promise<void> {
  if (isNewTable) await api.schema.deleteTable.mutate({ tableId })
  else await api.records.undo.mutate({ baseId })
  void cache.schema.tables.invalidate({ baseId })
}

/** False once the person has changed something else in the base: undo would then mean that. */
export function useMayTakeBack(run: ImportRun, { isNewTable, changeId }: ImportResult): boolean {
  const me = trpc.auth.me.useQuery().data?.user?.id
  const [isLatest, setLatest] = useState(true)
  useEffect(
    () =>
      onChange((change) => {
        const isLater = change.baseId === run.baseId && changeId !== null && change.id > changeId
        if (isLater && change.actorId === me) setLatest(false)
      }),
    [run.baseId, changeId, me],
  )
  return isNewTable || (isLatest && changeId !== null)
}
