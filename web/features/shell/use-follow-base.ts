import { useEffect } from 'react'
import { onReconnect, onSchemaChange, watchBase } from '../../socket.ts'
import { cache } from '../../trpc.ts'

/** Keeps the tree of tables, fields and views in step with other people's changes while a base is open. */
export function useFollowBase(baseId: string | undefined): void {
  useEffect(() => {
    if (!baseId) return
    const stopWatching = watchBase(baseId)
    const stopSchema = onSchemaChange(({ baseId: changed, tableId }) => {
      void cache.schema.tables.invalidate({ baseId: changed })
      if (tableId) void cache.schema.table.invalidate({ tableId })
      else void cache.bases.get.invalidate({ baseId: changed })
    })
    // What happened meanwhile was not sent.
    const stopReconnect = onReconnect(() => {
      void cache.schema.invalidate()
      void cache.bases.invalidate()
    })
    return () => {
      stopWatching()
      stopSchema()
      stopReconnect()
    }
  }, [baseId])
}
