import { Bell } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { IconButton } from '../../ui/button.tsx'
import { Popover } from '../../ui/overlays.ts'
import { readWatched } from '../watches/watch-commands.ts'
import styles from './notifications.module.css'
import { followNotifications, unreadCount } from './notifications.ts'

const NotificationList = lazyPart(() => import('./notification-list.tsx'), 'NotificationList')

/** Beyond it, the badge says so. */
const MAX_SHOWN = 99

/** The bell with the number of unread notifications, which opens their list. */
export function NotificationBell() {
  const unread = useStore(unreadCount)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  useEffect(() => {
    followNotifications()
    // Menus show it; the button of a record reads it again.
    readWatched().catch((error) => console.warn('watches could not be read', error))
  }, [])
  return (
    <span className={styles.bell}>
      <IconButton
        icon={Bell}
        iconSize={18}
        label={unread > 0 ? m.notifications_unread_count({ count: unread }) : m.notifications_notifications()}
        aria-haspopup="dialog"
        aria-expanded={anchor !== null}
        data-tip-side="side"
        onClick={({ currentTarget }) => setAnchor(anchor ? null : currentTarget)}
      />
      {unread > 0 && (
        <span className={styles.badge} aria-hidden data-testid="unread-badge">
          {unread > MAX_SHOWN ? `${MAX_SHOWN}+` : formatNumber(unread)}
        </span>
      )}
      <span className="visually-hidden" role="status">
        {unread > 0 ? m.notifications_unread_count({ count: unread }) : ''}
      </span>
      {anchor && (
        <Popover
          anchor={anchor}
          placement="side"
          label={m.notifications_notifications()}
          className={styles.popover}
          isSheetOnPhones
          onClose={() => setAnchor(null)}
        >
          <NotificationList onClose={() => setAnchor(null)} />
        </Popover>
      )}
    </span>
  )
}
