import { useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import type { RecordId } from '../../../../src/core/model.ts'
import { isOffline, messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { orderOf, selectionOf } from '../../../records/record-order.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import { timeZone } from '../../../time-zone.ts'
import { api } from '../../../trpc.ts'
import { toast } from '../../../ui/toast.ts'
import { wantedCell } from '../../presence/presence-state.ts'
import type { TableContext } from '../context/table-context.ts'
import { untilRow } from '../context/until-row.ts'

/** Scrolls to the record in the URL once, when the screen opens. */
export function useShowRecord(
  store: RecordStore,
  recordId: RecordId | null,
  select: (row: number) => void,
): void {
  const first = useRef({ recordId, select })
  useEffect(() => {
    const { recordId, select } = first.current
    if (recordId === null) return
    let isGone = false
    async function show(id: RecordId) {
      const offset = await rowOfRecord(store, id)
      if (offset !== null) await untilRow(store.source, offset)
      if (!isGone && offset !== null) select(offset)
    }
    show(recordId).catch((error) => {
      // The record panel opens anyway and reports a deleted record.
      if (!isOffline(error)) console.warn('the place of the record is not known', error)
    })
    return () => {
      isGone = true
    }
  }, [store])
}

/** The record's row index, loaded or not; null when the view does not show it. */
export async function rowOfRecord(store: RecordStore, recordId: RecordId): Promise<number | null> {
  const stored = store.query()
  const tableId = stored.fields[0]?.tableId ?? ''
  const query = { ...selectionOf(tableId, stored), ...orderOf(stored), timeZone, limit: 1, offset: 0 }
  const { offset } = await api.records.position.query({ query, recordId })
  return offset
}

/** Goes to the cell of another person once its view is on screen; views without a grid open the record. */
export function useGoToWantedCell(context: TableContext): void {
  const wanted = useStore(wantedCell)
  const latest = useRef(context)
  latest.current = context
  useEffect(() => {
    const { store, state } = latest.current
    if (wanted === null || wanted.viewId !== state.view.id) return
    wantedCell.setState(null, true)
    const { recordId, fieldId } = wanted
    async function go() {
      if (!latest.current.grid()) return latest.current.openRecord(recordId)
      const offset = await rowOfRecord(store, recordId)
      if (offset === null) return void toast.info({ text: m.presence_record_not_in_this_view() })
      await untilRow(store.source, offset)
      latest.current.grid()?.select(offset, fieldId ?? undefined)
      latest.current.grid()?.focus()
    }
    go().catch((error) => toast.error({ text: messageOf(error) }))
  }, [wanted])
}
