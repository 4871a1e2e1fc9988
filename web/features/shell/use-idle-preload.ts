import { useEffect } from 'react'
import { CommandPalette } from '../../actions/shell.tsx'
import { BaseDialog } from '../bases/base-commands.tsx'
import { CreateTableDialog } from './table-commands.tsx'

/** Time after which the screen in front has what it needs. */
const AFTER_MS = 1500

/** Fetches what a key press opens before it is pressed, once the screen is drawn. */
export function useIdlePreload(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const part of [CommandPalette, BaseDialog, CreateTableDialog]) {
        // Offline: opening it will say so.
        part.preload().catch((error) => console.warn('not fetched ahead of time', error))
      }
    }, AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
}
