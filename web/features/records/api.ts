import { timeZone } from '../../time-zone.ts'
import { api, inAction } from '../../trpc.ts'
import type { GroupsApi, RecordsApi } from './store/types.ts'

/** The call for groups over tRPC. */
export const groupsApi: GroupsApi = {
  groups: ({ selection, ...request }, signal) =>
    api.records.groups.query({ request: { ...request, selection: { ...selection, timeZone } } }, { signal }),
}

/** The record calls over tRPC. */
export const recordsApi: RecordsApi = {
  list: (query, signal) => api.records.list.query({ query: { ...query, timeZone } }, { signal }),
  count: async (selection, signal) =>
    (await api.records.count.query({ selection: { ...selection, timeZone } }, { signal })).count,
  async positions(query, ids, signal) {
    const { places } = await api.records.positions.query(
      { query: { ...query, timeZone }, recordIds: [...ids] },
      { signal },
    )
    return new Map(places.map(({ recordId, offset }) => [recordId, offset]))
  },
  apply: (change, actionId) =>
    api.records.write.mutate({ change: { ...change, timeZone } }, inAction(actionId)),
  undo: (baseId) => api.records.undo.mutate({ baseId }),
  redo: (baseId) => api.records.redo.mutate({ baseId }),
}
