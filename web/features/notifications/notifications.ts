import { createStore } from 'zustand/vanilla'
import { type Notification, notificationPath, notificationText } from '../../../src/core/notifications.ts'
import { m } from '../../messages.gen.ts'
import { goTo } from '../../navigation/paths.ts'
import { showUnreadInTitle } from '../../navigation/use-document-title.ts'
import { session } from '../../session/index.ts'
import { localSettings } from '../../session/local-settings.ts'
import { onNotification, onReconnect, watchUser } from '../../socket.ts'
import { timeZone } from '../../time-zone.ts'
import { api, cache } from '../../trpc.ts'
import { toast } from '../../ui/toast.ts'
import { askedComment } from '../records/context/asked-comment.ts'

/** Notifications that come at the same time are told one by one up to this number, and beyond in one message. */
const MAX_TOASTS = 2

/** The number of unread notifications. */
export const unreadCount = createStore<number>(() => 0)

function showCount(count: number): void {
  unreadCount.setState(count, true)
  showUnreadInTitle(count)
}

/** What was there at the first read, and everything read since; null until then. */
let known: { since: string; keys: Set<string> } | null = null
let isReading = false
let isStale = false

/** Reads the unread notifications, and tells of those that came since the last read. */
async function readNews(): Promise<void> {
  isStale = true
  if (isReading) return
  isReading = true
  try {
    while (isStale) {
      isStale = false
      const { notifications, unread } = await api.notifications.list.query({ unreadOnly: true, timeZone })
      showCount(unread)
      const { since, keys } = known ?? { since: notifications[0]?.at ?? '', keys: new Set() }
      if (known) tell(notifications.filter((one) => one.at > since && !keys.has(keyOf(one))))
      known = { since, keys: new Set([...keys, ...notifications.map(keyOf)]) }
      void cache.notifications.list.invalidate()
    }
  } finally {
    isReading = false
  }
}

/** Another one when more of the same is added to it. */
const keyOf = ({ id, at }: Notification): string => `${id} ${at}`

function tell(news: readonly Notification[]): void {
  if (news.length > MAX_TOASTS) {
    toast.news({ text: m.notifications_new_count({ count: news.length }), topic: 'notifications' })
    return
  }
  for (const one of news.toReversed()) {
    toast.news({
      text: notificationText(one),
      ...(notificationPath(one) !== null && {
        action: { label: m.notifications_open(), run: () => openNotification(one) },
      }),
    })
  }
}

const TOLD_ZONE = 'notifications.timeZoneOf'

/** Tells the time zone of this browser once for each account, for daily mails; a chosen one stays. */
async function tellTimeZone(): Promise<void> {
  if (session.status() !== 'signedIn') return
  const { user } = await cache.auth.me.ensureData()
  if (!user || localSettings.get(TOLD_ZONE) === user.id) return
  await api.notifications.setSettings.mutate({ baseId: null, browserTimeZone: timeZone })
  localSettings.set(TOLD_ZONE, user.id)
}

let isFollowing = false

/** Follows the user's notifications from now on. */
export function followNotifications(): void {
  if (isFollowing) return
  isFollowing = true
  // Without them everything else works; the next message or connection reads again.
  const read = () => void readNews().catch((error) => console.warn('notifications could not be read', error))
  const begin = () => {
    read()
    void tellTimeZone().catch((error) => console.warn('the time zone could not be stored', error))
  }
  onNotification(read)
  onReconnect(read)
  session.subscribe((status) => {
    known = null
    if (status === 'signedIn') begin()
    else showCount(0)
  })
  watchUser()
  begin()
}

/** Marks notifications; the number follows at once. */
export async function markNotifications(
  notifications: readonly Notification[],
  isRead: boolean,
): Promise<void> {
  const changed = notifications.filter((one) => one.isRead !== isRead)
  if (changed.length === 0) return
  showCount(Math.max(0, unreadCount.getState() + (isRead ? -changed.length : changed.length)))
  await api.notifications.mark.mutate({ ids: changed.map(({ id }) => id), isRead })
}

/** Opens the record, comment or base of a notification, and marks it as read. */
export async function openNotification(notification: Notification): Promise<void> {
  const path = notificationPath(notification)
  const { table, record, field, detail } = notification
  if (table && record && detail.text !== undefined) {
    askedComment.setState({ tableId: table.id, recordId: record.id, fieldId: field?.id ?? null }, true)
  }
  if (path !== null) goTo(path)
  await markNotifications([notification], true)
}
