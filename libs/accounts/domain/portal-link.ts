/** How many seconds a link to the portal, and the key that it is exchanged for, may last. */
export const PORTAL_LINK_SECONDS = { min: 1, max: 86_400, initial: 3_600 } as const;
