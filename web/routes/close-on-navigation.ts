import { appHistory } from '../navigation/paths.ts'
import { closeLayersOnNavigation } from '../ui/layers.ts'

/**
 * Closes dialogs, popovers and menus when the page below them changes: another path, or another record by Back or
 * Forward. A record that a click puts into the address leaves open what stands beside it.
 */
export function closeOnNavigation(): void {
  let path = appHistory.location.pathname
  appHistory.subscribe(({ location, action }) => {
    const isOtherPath = location.pathname !== path
    path = location.pathname
    if (isOtherPath || action.type === 'BACK' || action.type === 'FORWARD' || action.type === 'GO')
      closeLayersOnNavigation()
  })
}
