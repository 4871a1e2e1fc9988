import { useEffect, useRef } from 'react'
import type { RecordId } from '../../../../src/core/model.ts'
import { isOffline } from '../../../errors.ts'
import type { GridSource } from '../../../grid/contract.ts'
import { orderOf } from '../../../records/record-order.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import { timeZone } from '../../../time-zone.ts'
import { api } from '../../../trpc.ts'

/** Brings the record that the address names in sight, once, when the screen opens with one. */
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
      // The record is shown beside the grid all the same; that it is gone is said there.
      if (!isOffline(error)) console.warn('the place of the record is not known', error)
    })
    return () => {
      isGone = true
    }
  }, [store])
}

/** The row that a record stands in, whether it is loaded or not; null where the view does not show it. */
export async function rowOfRecord(store: RecordStore, recordId: RecordId): Promise<number | null> {
  const { fields, filter, search } = store.query()
  const tableId = fields[0]?.tableId ?? ''
  const query = { tableId, filter, ...orderOf(store.query()), search, timeZone, limit: 1, offset: 0 }
  const { offset } = await api.records.position.query({ query, recordId })
  return offset
}

/**
 * Waits until the grid has that many rows. The count comes after the first page, and right after a search
 * that filtered it is still the number of what was found.
 */
export function untilRow(source: GridSource, row: number): Promise<void> {
  const isThere = () => (source.rowCount ?? 0) > row
  if (isThere()) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = source.subscribe(() => {
      if (!isThere()) return
      stop()
      resolve()
    })
  })
}
