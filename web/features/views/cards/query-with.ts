import { useMemo } from 'react'
import { coloringFields, type RowColoring } from '../../../../src/core/views/index.ts'
import type { StoreQuery } from '../../../records/types.ts'

/**
 * A view's query with hidden fields that it needs: for colouring, covers or the location of pins.
 */
export function useQueryWith(
  query: StoreQuery,
  coloring: RowColoring | null,
  fieldIds: readonly (string | null)[],
): StoreQuery {
  const extraIds = JSON.stringify([...fieldIds, ...(coloring ? coloringFields(coloring) : [])])
  return useMemo(() => {
    const known = new Set(query.fields.map((field) => field.id))
    const all: (string | null)[] = [...query.fieldIds, ...JSON.parse(extraIds)]
    const ids = new Set(all.filter((id): id is string => id !== null && known.has(id)))
    return ids.size === query.fieldIds.length ? query : { ...query, fieldIds: [...ids] }
  }, [query, extraIds])
}
