import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { api, cache } from '../../trpc.ts'
import { toast } from '../../ui/toast.ts'
import { type WatchTarget, watched, watchKey } from './watched.ts'

/** Reads what the user watches. */
export async function readWatched(): Promise<void> {
  const rows = await api.notifications.watched.query()
  const keyOf = ({ tableId, kind, targetId }: (typeof rows)[number]) =>
    watchKey(kind === 'view' ? { tableId, viewId: targetId } : { tableId, recordId: targetId })
  watched.setState(new Set(rows.map(keyOf)), true)
}

/** Begins to watch a record or view, or ends it; shows at once, and takes it back if the server refuses. */
export async function toggleWatch(target: WatchTarget): Promise<void> {
  const key = watchKey(target)
  const isOn = !watched.getState()?.has(key)
  show(key, isOn)
  try {
    await api.notifications.watch.mutate({ target, isOn })
    const isView = 'viewId' in target
    if (isOn) toast.success({ text: isView ? m.watches_watching_view() : m.watches_watching_record() })
    else toast.success({ text: isView ? m.watches_view_ended() : m.watches_record_ended() })
    void cache.notifications.watches.invalidate()
  } catch (error) {
    show(key, !isOn)
    toast.error({ text: messageOf(error) })
  }
}

function show(key: string, isOn: boolean): void {
  const keys = new Set(watched.getState())
  if (isOn) keys.add(key)
  else keys.delete(key)
  watched.setState(keys, true)
}
