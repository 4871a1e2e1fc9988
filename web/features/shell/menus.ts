/** Menus and commands of the shell's tree and bars, as one module: loaded after the first content (`later.tsx`). */
export {
  BaseDialog,
  baseMenu,
  createBase,
  editBase,
  openApiDocs,
} from '../bases/base-commands.tsx'
export { tableMenu } from '../bases/node-menus.ts'
export {
  CreateTableDialog,
  createTable,
  duplicateTable,
  openPerformance,
  renameTable,
  reorderTable,
} from '../tables/table-commands.tsx'
export { createView, renameView, reorderView } from '../views/manage/view-commands.tsx'
export { newViewItems, viewMenu } from '../views/manage/view-menu.ts'
