/** Where the tables that this page moves to another base will be, by the ids of the originals. */
export const movedTables = new Map<string, { baseId: string; tableId: string }>()
