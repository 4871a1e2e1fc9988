import { useEffect } from 'react'

/** The title of the browser's tab: `Tasks · Sheaf`. */
export function useDocumentTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Sheaf` : 'Sheaf'
  }, [title])
}
