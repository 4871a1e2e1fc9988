import { useEffect } from 'react'
import { actionContext } from '../../actions/action.ts'
import { actionsFor, provideAppActions } from '../../actions/index.ts'
import { messageOf } from '../../errors.ts'
import { hasOpenLayer } from '../../ui/layers.ts'
import { isShortcut, isTyping } from '../../ui/shortcuts.ts'
import { toast } from '../../ui/toast.ts'
import { APP_ACTIONS } from './actions/index.ts'

provideAppActions(APP_ACTIONS)

/** Runs actions by their shortcut, and keeps Ctrl/Cmd+A from selecting the text of the page (spec §2). */
export function useKeyMap(): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      // A control that has used the key says so.
      if (event.defaultPrevented || event.isComposing) return
      const typing = isTyping(event.target)
      if (isShortcut(event, 'mod+a') && !typing) return event.preventDefault()
      if (hasOpenLayer()) return
      const context = actionContext()
      const action = actionsFor(context).find(({ shortcut }) => {
        if (!shortcut || !isShortcut(event, shortcut)) return false
        return !typing || shortcut.startsWith('mod+')
      })
      if (!action) return
      event.preventDefault()
      Promise.resolve(action.run(context)).catch((error) => toast.error({ text: messageOf(error) }))
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}
