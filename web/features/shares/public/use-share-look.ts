import { useEffect } from 'react'
import type { OpenedShare } from '../../../../src/core/shares.ts'
import { DEFAULT_THEME } from '../../../../src/core/theme.ts'
import { applyTheme } from '../../bases/theme.ts'

/** Gives the page the title, direction and colour of what is shared, as long as it is shown. */
export function useShareLook(opened: OpenedShare | null): void {
  const { title, settings, theme } = opened ?? {}
  useEffect(() => {
    if (!title || !settings) return
    const page = document.documentElement
    const before = { title: document.title, dir: page.dir }
    document.title = title
    if (settings.rtl) page.dir = 'rtl'
    const { primaryColor, accentColor } = theme ?? DEFAULT_THEME
    const takeOff = applyTheme({ primaryColor: settings.themeColor ?? primaryColor, accentColor })
    return () => {
      document.title = before.title
      page.dir = before.dir
      takeOff()
    }
  }, [title, settings, theme])
}
