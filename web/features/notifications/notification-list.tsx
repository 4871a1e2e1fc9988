import { Bell, BellOff, CheckCheck, Mail, MailOpen, Settings2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useStore } from 'zustand'
import { type Notification, notificationPath, notificationText } from '../../../src/core/notifications.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { plainText } from '../../rich-text/markdown.ts'
import { timeZone } from '../../time-zone.ts'
import { api, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useRowFocus } from '../../ui/use-row-focus.ts'
import styles from './notifications.module.css'
import { markNotifications, openNotification, unreadCount } from './notifications.ts'

/** The user's notifications, newest first: all, or those that are unread. */
export function NotificationList({ onClose }: { onClose: () => void }) {
  const [filter, setFilter] = useState<'unread' | 'all'>('unread')
  const unread = useStore(unreadCount)
  const pages = trpc.notifications.list.useInfiniteQuery(
    { unreadOnly: filter === 'unread', timeZone },
    { getNextPageParam: ({ next }) => next ?? undefined, staleTime: 0 },
  )
  const notifications = pages.data?.pages.flatMap((page) => page.notifications)
  const { list, onRemove } = useRowFocus<HTMLUListElement>(notifications, 'li')
  const change = (work: () => Promise<unknown>) =>
    void attempt(async () => {
      await work()
      await pages.refetch()
    })
  return (
    <div className={styles.list}>
      <header className={styles.head}>
        <h2 className={styles.title}>{m.notifications_notifications()}</h2>
        <IconButton
          icon={CheckCheck}
          size="small"
          label={m.notifications_mark_all_read()}
          disabled={unread === 0}
          onClick={() =>
            change(async () => {
              await api.notifications.markAllRead.mutate()
            })
          }
        />
        <a
          href={hrefOf(paths.notifications())}
          className={styles.settings}
          aria-label={m.notifications_settings()}
          data-tip={m.notifications_settings()}
          onClick={onClose}
        >
          <Settings2 size={16} />
        </a>
      </header>
      <Tabs
        label={m.notifications_notifications()}
        tabs={[
          { id: 'unread', label: m.notifications_unread() },
          { id: 'all', label: m.notifications_all() },
        ]}
        selected={filter}
        onSelect={setFilter}
        className={styles.tabs}
        panelClassName={styles.panel}
      >
        {pages.error && !pages.data ? (
          <QueryError title={m.notifications_load_failed()} query={pages} />
        ) : notifications?.length === 0 ? (
          <EmptyState
            icon={filter === 'unread' ? BellOff : Bell}
            title={filter === 'unread' ? m.notifications_none_unread() : m.notifications_none()}
            text={m.notifications_none_text()}
          />
        ) : (
          <ul ref={list} className={styles.rows} aria-busy={pages.isPending} data-testid="notifications">
            {notifications?.map((notification, at) => (
              <NotificationRow
                key={notification.id}
                notification={notification}
                onOpen={() => {
                  onClose()
                  void attempt(() => openNotification(notification))
                }}
                onMark={(isRead) => {
                  onRemove(at)
                  change(() => markNotifications([notification], isRead))
                }}
                onRemove={() => {
                  onRemove(at)
                  change(() => api.notifications.remove.mutate({ id: notification.id }))
                }}
              />
            )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={56} />)}
          </ul>
        )}
        {pages.hasNextPage && (
          <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            {m.history_show_older()}
          </Button>
        )}
      </Tabs>
    </div>
  )
}

interface RowProps {
  notification: Notification
  onOpen: () => void
  onMark: (isRead: boolean) => void
  onRemove: () => void
}

function NotificationRow({ notification, onOpen, onMark, onRemove }: RowProps) {
  const { actor, at, isRead, base, detail } = notification
  const path = notificationPath(notification)
  const text = notificationText(notification)
  return (
    <li className={styles.row} data-unread={!isRead || undefined}>
      {actor ? <Avatar person={actor} size={28} /> : <Bell size={18} className={styles.icon} />}
      <div className={styles.main}>
        {path === null ? (
          <span className={styles.text} dir="auto">
            {text}
          </span>
        ) : (
          <a
            href={hrefOf(path)}
            className={styles.text}
            dir="auto"
            onClick={(event) => {
              // A new tab opens it without its comment.
              if (event.ctrlKey || event.metaKey || event.shiftKey) return
              event.preventDefault()
              onOpen()
            }}
          >
            {text}
          </a>
        )}
        {detail.text !== undefined && (
          <p className={styles.quote} dir="auto">
            {plainText(detail.text)}
          </p>
        )}
        <p className={styles.facts}>
          {!isRead && <span className="visually-hidden">{m.notifications_unread()}</span>}
          <time dateTime={at} data-tip={new Date(at).toLocaleString(localeTag())}>
            {formatAgo(at)}
          </time>
          {base && <span dir="auto">{base.title}</span>}
        </p>
      </div>
      <span className={styles.tools}>
        <IconButton
          icon={isRead ? Mail : MailOpen}
          size="small"
          iconSize={14}
          label={isRead ? m.notifications_mark_unread() : m.notifications_mark_read()}
          onClick={() => onMark(!isRead)}
        />
        <IconButton
          icon={Trash2}
          size="small"
          iconSize={14}
          label={m.notifications_delete()}
          onClick={onRemove}
        />
      </span>
    </li>
  )
}
