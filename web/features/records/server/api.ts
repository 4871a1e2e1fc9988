import { timeZone } from '../../../time-zone.ts'
import { api, inAction } from '../../../trpc.ts'
import type { GroupsApi, RecordsApi } from '../store/types.ts'
import { readOrRemember, remember } from './remembered-reads.ts'

/** The call for groups over tRPC. */
export const groupsApi: GroupsApi = {
  groups: ({ selection, ...request }, signal) =>
    readOrRemember(
      { name: 'groups', tableId: selection.tableId, input: { selection, request } },
      () =>
        api.records.groups.query(
          { request: { ...request, selection: { ...selection, timeZone } } },
          { signal },
        ),
      signal,
    ),
}

/** The record calls over tRPC. */
export const recordsApi: RecordsApi = {
  list: (query, signal) =>
    readOrRemember(
      { name: 'list', tableId: query.tableId, input: query },
      () => api.records.list.query({ query: { ...query, timeZone } }, { signal }),
      signal,
    ),
  count: (selection, signal) =>
    readOrRemember(
      { name: 'count', tableId: selection.tableId, input: selection },
      async () =>
        (await api.records.count.query({ selection: { ...selection, timeZone } }, { signal })).count,
      signal,
    ),
  leave: (query, page) => remember({ name: 'list', tableId: query.tableId, input: query }, page),
  async positions(query, ids, signal) {
    const { places } = await api.records.positions.query(
      { query: { ...query, timeZone }, recordIds: [...ids] },
      { signal },
    )
    return new Map(places.map(({ recordId, offset }) => [recordId, offset]))
  },
  apply: (change, actionId) =>
    api.records.write.mutate({ change: { ...change, timeZone } }, inAction(actionId)),
}
