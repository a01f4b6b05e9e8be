//! Graphs of all forms, as the macro expands them: the duration is the critical path, and every value is right.

use fiber_core::dataflow;

use super::{later, timed};

#[test]
fn five_sparse() {
    let flow = dataflow! {
        let v0 = later(0, 1);
        let v1 = later(5, 1);
        let v2 = later(5, 1 + &v1);
        let v3 = later(2, 1 + &v0);
        let v4 = later(2, 1);
        return [v0, v1, v2, v3, v4].iter().sum::<u64>()
    };
    assert_eq!(timed(flow), (7, 10));
}

#[test]
fn eight() {
    let flow = dataflow! {
        let v0 = later(1, 1);
        let v1 = later(2, 1);
        let v2 = later(5, 1 + &v0 + &v1);
        let v3 = later(5, 1 + &v1);
        let v4 = later(0, 1 + &v0 + &v1 + &v2);
        let v5 = later(3, 1 + &v0 + &v1);
        let v6 = later(2, 1 + &v1);
        let v7 = later(1, 1 + &v1 + &v2 + &v5);
        return [v0, v1, v2, v3, v4, v5, v6, v7].iter().sum::<u64>()
    };
    assert_eq!(timed(flow), (26, 8));
}

#[test]
fn twelve_dense() {
    let flow = dataflow! {
        let v0 = later(3, 1);
        let v1 = later(4, 1);
        let v2 = later(0, 1 + &v0 + &v1);
        let v3 = later(3, 1 + &v0 + &v1 + &v2);
        let v4 = later(5, 1 + &v0 + &v1 + &v2 + &v3);
        let v5 = later(0, 1 + &v0 + &v1 + &v2 + &v3 + &v4);
        let v6 = later(3, 1 + &v0 + &v1 + &v2 + &v3 + &v4 + &v5);
        let v7 = later(2, 1 + &v2 + &v3 + &v6);
        let v8 = later(4, 1 + &v3 + &v4 + &v5 + &v6 + &v7);
        let v9 = later(4, 1 + &v3 + &v4 + &v5 + &v6 + &v7);
        let v10 = later(1, 1 + &v4 + &v5 + &v8);
        let v11 = later(2, 1 + &v5 + &v6 + &v7 + &v8 + &v9 + &v10);
        return [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11].iter().sum::<u64>()
    };
    assert_eq!(timed(flow), (1252, 24));
}

#[test]
fn sixteen_sparse() {
    let flow = dataflow! {
        let v0 = later(2, 1);
        let v1 = later(2, 1);
        let v2 = later(5, 1 + &v0);
        let v3 = later(1, 1);
        let v4 = later(2, 1);
        let v5 = later(2, 1 + &v2);
        let v6 = later(3, 1 + &v0 + &v2 + &v3);
        let v7 = later(3, 1);
        let v8 = later(1, 1 + &v4 + &v7);
        let v9 = later(5, 1);
        let v10 = later(0, 1 + &v4);
        let v11 = later(0, 1 + &v10);
        let v12 = later(1, 1 + &v9);
        let v13 = later(5, 1 + &v9);
        let v14 = later(0, 1);
        let v15 = later(0, 1 + &v12 + &v14);
        return [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15].iter().sum::<u64>()
    };
    assert_eq!(timed(flow), (33, 10));
}

#[test]
fn forty_mixed() {
    let flow = dataflow! {
        let v0 = later(3, 1);
        let v1 = later(2, 1);
        let v2 = later(0, 1 + &v0);
        let v3 = later(5, 1 + &v0 + &v1);
        let v4 = later(0, 1 + &v0 + &v1);
        let v5 = later(3, 1 + &v1);
        let v6 = later(5, 1 + &v0);
        let v7 = later(2, 1 + &v4 + &v5 + &v6);
        let v8 = later(1, 1 + &v3 + &v7);
        let v9 = later(5, 1 + &v8);
        let v10 = later(0, 1 + &v4 + &v5 + &v9);
        let v11 = later(2, 1 + &v8);
        let v12 = later(2, 1 + &v6);
        let v13 = later(2, 1 + &v8);
        let v14 = later(1, 1 + &v10 + &v12);
        let v15 = later(2, 1 + &v10);
        let v16 = later(3, 1 + &v10 + &v11 + &v14);
        let v17 = later(1, 1 + &v11 + &v12 + &v14 + &v15);
        let v18 = later(0, 1 + &v12 + &v14 + &v17);
        let v19 = later(1, 1 + &v16);
        let v20 = later(0, 1 + &v14 + &v19);
        let v21 = later(0, 1 + &v15 + &v19);
        let v22 = later(2, 1 + &v18 + &v20);
        let v23 = later(2, 1 + &v18);
        let v24 = later(4, 1 + &v19 + &v22);
        let v25 = later(4, 1 + &v20 + &v21 + &v23 + &v24);
        let v26 = later(0, 1 + &v22 + &v23 + &v24);
        let v27 = later(3, 1 + &v22);
        let v28 = later(2, 1 + &v22 + &v26 + &v27);
        let v29 = later(1, 1 + &v23 + &v26 + &v28);
        let v30 = later(2, 1 + &v24 + &v25 + &v26 + &v27);
        let v31 = later(2, 1 + &v25 + &v26 + &v27 + &v28 + &v29 + &v30);
        let v32 = later(3, 1 + &v27);
        let v33 = later(2, 1 + &v30 + &v31);
        let v34 = later(0, 1 + &v33);
        let v35 = later(4, 1 + &v34);
        let v36 = later(1, 1 + &v30 + &v33 + &v34 + &v35);
        let v37 = later(1, 1);
        let v38 = later(4, 1 + &v33 + &v34 + &v36);
        let v39 = later(2, 1);
        return [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v30, v31, v32, v33, v34, v35, v36, v37, v38, v39].iter().sum::<u64>()
    };
    assert_eq!(timed(flow), (80160, 46));
}

#[test]
fn forty_beside_each_other() {
    let flow = dataflow! {
        let v0 = later(1, 0_u64);
        let v1 = later(2, 1_u64);
        let v2 = later(3, 2_u64);
        let v3 = later(4, 3_u64);
        let v4 = later(5, 4_u64);
        let v5 = later(6, 5_u64);
        let v6 = later(7, 6_u64);
        let v7 = later(1, 7_u64);
        let v8 = later(2, 8_u64);
        let v9 = later(3, 9_u64);
        let v10 = later(4, 10_u64);
        let v11 = later(5, 11_u64);
        let v12 = later(6, 12_u64);
        let v13 = later(7, 13_u64);
        let v14 = later(1, 14_u64);
        let v15 = later(2, 15_u64);
        let v16 = later(3, 16_u64);
        let v17 = later(4, 17_u64);
        let v18 = later(5, 18_u64);
        let v19 = later(6, 19_u64);
        let v20 = later(7, 20_u64);
        let v21 = later(1, 21_u64);
        let v22 = later(2, 22_u64);
        let v23 = later(3, 23_u64);
        let v24 = later(4, 24_u64);
        let v25 = later(5, 25_u64);
        let v26 = later(6, 26_u64);
        let v27 = later(7, 27_u64);
        let v28 = later(1, 28_u64);
        let v29 = later(2, 29_u64);
        let v30 = later(3, 30_u64);
        let v31 = later(4, 31_u64);
        let v32 = later(5, 32_u64);
        let v33 = later(6, 33_u64);
        let v34 = later(7, 34_u64);
        let v35 = later(1, 35_u64);
        let v36 = later(2, 36_u64);
        let v37 = later(3, 37_u64);
        let v38 = later(4, 38_u64);
        let v39 = later(5, 39_u64);
        return [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v30, v31, v32, v33, v34, v35, v36, v37, v38, v39].iter().sum::<u64>()
    };
    assert_eq!(timed(flow), (780, 7));
}

#[test]
fn forty_behind_each_other() {
    let flow = dataflow! {
        let v0 = later(1, 0_u64);
        let v1 = later(1, v0 + 1);
        let v2 = later(1, v1 + 1);
        let v3 = later(1, v2 + 1);
        let v4 = later(1, v3 + 1);
        let v5 = later(1, v4 + 1);
        let v6 = later(1, v5 + 1);
        let v7 = later(1, v6 + 1);
        let v8 = later(1, v7 + 1);
        let v9 = later(1, v8 + 1);
        let v10 = later(1, v9 + 1);
        let v11 = later(1, v10 + 1);
        let v12 = later(1, v11 + 1);
        let v13 = later(1, v12 + 1);
        let v14 = later(1, v13 + 1);
        let v15 = later(1, v14 + 1);
        let v16 = later(1, v15 + 1);
        let v17 = later(1, v16 + 1);
        let v18 = later(1, v17 + 1);
        let v19 = later(1, v18 + 1);
        let v20 = later(1, v19 + 1);
        let v21 = later(1, v20 + 1);
        let v22 = later(1, v21 + 1);
        let v23 = later(1, v22 + 1);
        let v24 = later(1, v23 + 1);
        let v25 = later(1, v24 + 1);
        let v26 = later(1, v25 + 1);
        let v27 = later(1, v26 + 1);
        let v28 = later(1, v27 + 1);
        let v29 = later(1, v28 + 1);
        let v30 = later(1, v29 + 1);
        let v31 = later(1, v30 + 1);
        let v32 = later(1, v31 + 1);
        let v33 = later(1, v32 + 1);
        let v34 = later(1, v33 + 1);
        let v35 = later(1, v34 + 1);
        let v36 = later(1, v35 + 1);
        let v37 = later(1, v36 + 1);
        let v38 = later(1, v37 + 1);
        let v39 = later(1, v38 + 1);
        return v39
    };
    assert_eq!(timed(flow), (39, 40));
}
