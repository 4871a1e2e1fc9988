import { useEffect } from 'react'

let shownTitle: string | undefined
let unread = 0

function show(): void {
  const title = shownTitle ? `${shownTitle} · Sheaf` : 'Sheaf'
  document.title = unread > 0 ? `(${unread}) ${title}` : title
}

/** The title of the browser's tab: `Tasks · Sheaf`. */
export function useDocumentTitle(title: string | undefined): void {
  useEffect(() => {
    shownTitle = title
    show()
  }, [title])
}

/** Puts the number of unread notifications before the title: `(2) Tasks · Sheaf`. */
export function showUnreadInTitle(count: number): void {
  unread = count
  show()
}
