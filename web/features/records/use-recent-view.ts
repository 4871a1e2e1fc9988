import { useEffect } from 'react'
import type { TableSchema, View } from '../../../src/core/model.ts'
import { session } from '../../session/index.ts'
import { noteRecentView } from '../../session/recent-views.ts'

/** Remembers the view on the screen for "Recent views"; a visitor of a link has none. */
export function useRecentView(schema: TableSchema | undefined, view: View | undefined): void {
  const { baseId, title: tableTitle } = schema?.table ?? {}
  const { id: viewId, tableId, title, isDefault } = view ?? {}
  useEffect(() => {
    const userId = session.userId()
    if (!userId || !baseId || !tableId || !viewId) return
    noteRecentView({
      userId,
      baseId,
      tableId,
      viewId,
      isDefault: isDefault ?? false,
      title: title ?? '',
      tableTitle: tableTitle ?? '',
    })
  }, [baseId, tableId, viewId, isDefault, title, tableTitle])
}
