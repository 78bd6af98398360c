/** See packData.mjs. */
export declare function packData(data: string): void;
