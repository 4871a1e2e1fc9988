import { useEffect, useRef } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { isOffline } from '../../../../errors.ts'
import { timeZone } from '../../../../time-zone.ts'
import { api, isMissing } from '../../../../trpc.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import { orderOf } from '../../../records/store/order-check.ts'
import type { Board } from './create-board.ts'
import { type StackBy, type StackKey, stackKey, stackValue } from './stack-by.ts'

/** Brings the record that the address names in sight, once, when the board opens with one. */
export function useShowCard(
  { by, board, store }: { by: StackBy; board: Board; store: RecordStore },
  recordId: RecordId | null,
  reveal: (id: RecordId, key: StackKey, index: number) => void,
): void {
  const first = useRef({ recordId, by, reveal })
  useEffect(() => {
    const { recordId, by, reveal } = first.current
    if (recordId === null) return
    let isGone = false
    async function show(id: RecordId) {
      const place = await placeOfCard(by, store, id)
      if (!place) return
      await untilKnown(store, () => isGone || board.lanes.lane(place.key).count !== null)
      if (!isGone) reveal(id, place.key, place.index)
    }
    show(recordId).catch((error) => {
      // The record is shown beside the board all the same; that it is gone is said there.
      if (!isOffline(error) && !isMissing(error)) console.warn('the place of the record is not known', error)
    })
    return () => {
      isGone = true
    }
  }, [board, store])
}

/** The stack of a record and its index there, loaded or not; null where the board does not show it. */
export async function placeOfCard(
  by: StackBy,
  store: RecordStore,
  recordId: RecordId,
): Promise<{ key: StackKey; index: number } | null> {
  const { tableId } = by.field
  const { values } = await api.records.get.query({ tableId, recordId })
  const key = stackKey(by, values[by.keyField.id] ?? null)
  const { filter, search } = store.query()
  const group = [{ fieldId: by.keyField.id, value: stackValue(by, key) }]
  const order = orderOf(store.query())
  const query = { tableId, filter, ...order, search, group, timeZone, limit: 1, offset: 0 }
  const { offset } = await api.records.position.query({ query, recordId })
  return offset === null ? null : { key, index: offset }
}

function untilKnown({ source }: RecordStore, isKnown: () => boolean): Promise<void> {
  if (isKnown()) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = source.subscribe(() => {
      if (!isKnown()) return
      stop()
      resolve()
    })
  })
}
