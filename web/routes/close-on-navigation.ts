import { appHistory } from '../navigation/paths.ts'
import { closeLayersOnNavigation } from '../ui/layers.ts'
import { cancelAwaitedMenu } from '../ui/menu.tsx'

/**
 * Closes dialogs, popovers and menus, also a menu that is about to open, when the page below changes: another path, or
 * another record by Back or Forward. A click that puts a record into the address closes nothing.
 */
export function closeOnNavigation(): void {
  let path = appHistory.location.pathname
  appHistory.subscribe(({ location, action }) => {
    const isOtherPath = location.pathname !== path
    path = location.pathname
    if (isOtherPath || action.type === 'BACK' || action.type === 'FORWARD' || action.type === 'GO') {
      cancelAwaitedMenu()
      closeLayersOnNavigation()
    }
  })
}
