import { Outlet } from '@tanstack/react-router'
import { MenuHost } from '../../../ui/menu.tsx'
import { DialogHost } from '../../../ui/open-dialog.tsx'
import { ToastHost } from '../../../ui/toast-host.tsx'
import { TooltipHost } from '../../../ui/tooltip.tsx'

/** The screen of the link, and what may lie over it. */
export function ShareFrame() {
  return (
    <>
      <Outlet />
      <DialogHost />
      <MenuHost />
      <ToastHost />
      <TooltipHost />
    </>
  )
}
