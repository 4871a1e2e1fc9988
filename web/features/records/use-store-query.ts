import { useMemo } from 'react'
import { fieldsOf } from '../../../src/core/filters/index.ts'
import type { Field, View } from '../../../src/core/model.ts'
import type { Search } from '../../../src/core/query.ts'
import { shownFields } from '../views/arrange-fields.ts'
import { completeFilter } from '../views/filter-edit.ts'
import type { StoreQuery } from './store/types.ts'

/** What the store must read for a view: conditions without a value and sorts by lost fields have no effect. */
export function useStoreQuery(fields: readonly Field[], view: View, search: Search | null): StoreQuery {
  return useMemo(() => {
    const filter = completeFilter(view.filter, fields)
    const sorts = view.sorts
      .filter((sort) => fields.some((field) => field.id === sort.fieldId))
      .map(({ fieldId, direction }) => ({ fieldId, direction }))
    const shown = shownFields(fields, view).map(({ field }) => field.id)
    const needed = [...shown, ...fieldsOf(filter), ...sorts.map((sort) => sort.fieldId)]
    const known = needed.filter((id) => fields.some((field) => field.id === id))
    return { fields, fieldIds: [...new Set(known)], filter, sorts, search }
  }, [fields, view, search])
}
